import type { QueryClient } from "@tanstack/react-query";

import type { Pipe } from "./pipe";
import { keys } from "./queries";
import type { Event } from "./types";

/**
 * What a category of events makes stale: the one table that keeps the interface
 * live. The audit view takes the events themselves. What the person does here is
 * not listed: it makes nothing stale that its effect does not tell of.
 */
const staleBy: [prefix: string, keys: readonly (readonly string[])[]][] = [
  ["agent", [keys.overview]],
  ["browser.session", [keys.overview, keys.sessions]],
  ["browser.tab", [keys.overview, keys.sessions]],
  ["browser.dialog", [keys.overview, keys.sessions]],
  ["browser.navigation", [keys.overview, keys.sessions, keys.history]],
  ["agent.paused", [keys.sessions]],
  ["agent.resumed", [keys.sessions]],
  ["agent.stopped", [keys.sessions]],
  ["approval", [keys.overview, keys.sessions, keys.questions]],
  ["setting", [keys.settings, keys.overview]],
  ["site", [keys.sites]],
  ["policy", [keys.sites]],
  ["history", [keys.history]],
  ["host", [keys.overview]],
];

/** Returns whether category is prefix or below it, by whole words. */
export function within(category: string, prefix: string): boolean {
  return category === prefix || category.startsWith(prefix + ".");
}

function stale(events: Event[]): Set<readonly string[]> {
  const found = new Set<readonly string[]>();
  for (const event of events) {
    for (const [prefix, affected] of staleBy) {
      if (within(event.category, prefix)) affected.forEach((key) => found.add(key));
    }
  }
  return found;
}

/**
 * Keeps the query cache fresh by the pipe's events until the returned function
 * is called. While one round of fetches runs, what becomes stale is gathered for
 * the next: however fast events come, there is one fetch of a kind at a time and
 * always one after the last event. Events that are missing, and a pipe that was
 * lost, make everything stale.
 */
export function keepFresh(pipe: Pipe, cache: QueryClient): () => void {
  let ended = false;
  let running = false;
  let everything = false;
  let gathered = new Set<readonly string[]>();
  let last = 0;

  const round = async () => {
    running = true;
    while (!ended && (everything || gathered.size > 0)) {
      const all = everything;
      const some = gathered;
      everything = false;
      gathered = new Set();
      // Fetch errors are the queries' own state, not this loop's.
      await (all
        ? cache.invalidateQueries()
        : Promise.all([...some].map((queryKey) => cache.invalidateQueries({ queryKey }))));
    }
    running = false;
  };
  const start = () => {
    if (!running) void round();
  };

  const offEvents = pipe.onEvents((events) => {
    const first = events[0];
    if (!first) return;
    if (last > 0 && first.seq > last + 1) everything = true;
    last = Math.max(last, events[events.length - 1]?.seq ?? 0);
    stale(events).forEach((key) => gathered.add(key));
    start();
  });
  const offState = pipe.onState((state) => {
    if (state !== "open") return;
    everything = true;
    start();
  });
  return () => {
    ended = true;
    offEvents();
    offState();
  };
}
