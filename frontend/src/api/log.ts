import { useCallback, useEffect, useRef, useState } from "react";

import { within } from "./events";
import { Fault } from "./client";
import { useClient } from "./queries";
import type { Event } from "./types";

/** Which rows of the log are wanted. */
export interface LogFilter {
  /** A category or the start of one; absent or empty for all. */
  prefix?: string | undefined;
  agent?: string | undefined;
}

export interface Log {
  /** Newest first. */
  rows: Event[];
  /** Whether there are older rows than these. */
  more: boolean;
  loading: boolean;
  error: Fault | undefined;
  /** Fetches the next older page; does nothing while one is on its way. */
  older(): void;
}

const pageSize = 200;
/** More rows than the log keeps are never held. */
const mostRows = 20_000;

function chosen(event: Event, { prefix, agent }: LogFilter): boolean {
  return (!prefix || within(event.category, prefix)) && (!agent || event.agent === agent);
}

function merge(newer: Event[], older: Event[]): Event[] {
  const lowest = newer.at(-1)?.seq ?? Infinity;
  return [...newer, ...older.filter((row) => row.seq < lowest)].slice(0, mostRows);
}

/**
 * The log, live: pages are fetched backwards from its end, and new rows are the
 * pipe's events themselves, put in front once a frame. Nothing is fetched again.
 */
export function useLog({ prefix, agent }: LogFilter): Log {
  const client = useClient();
  const [rows, setRows] = useState<Event[]>([]);
  const [more, setMore] = useState(false);
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<Fault>();
  const [round, setRound] = useState(0);
  const busy = useRef(false);

  const fetchPage = useCallback(
    (before?: number) =>
      client.call("audit", {
        limit: pageSize,
        ...(prefix ? { prefix } : {}),
        ...(agent ? { agent } : {}),
        ...(before ? { before } : {}),
      }),
    [client, prefix, agent],
  );

  useEffect(() => {
    let current = true;
    let heard: Event[] = [];
    let frame = 0;
    let started = false;
    const flush = () => {
      frame = 0;
      const fresh = heard;
      heard = [];
      setRows((old) => {
        const top = old[0]?.seq ?? 0;
        const added = fresh.filter((event) => event.seq > top && chosen(event, { prefix, agent }));
        return added.length ? merge(added.reverse(), old) : old;
      });
    };
    const off = client.pipe.onEvents((events) => {
      heard.push(...events);
      if (started && !frame) frame = requestAnimationFrame(flush);
    });
    const offState = client.pipe.onState((state) => {
      if (state === "open") setRound((n) => n + 1);
    });
    setLoading(true);
    setError(undefined);
    busy.current = true;
    fetchPage()
      .then(
        (page) => {
          if (!current) return;
          setRows(page.events);
          setMore(page.more);
          started = true;
          flush();
        },
        (fault: Fault) => current && setError(fault),
      )
      .finally(() => {
        if (!current) return;
        busy.current = false;
        setLoading(false);
      });
    return () => {
      current = false;
      off();
      offState();
      cancelAnimationFrame(frame);
    };
  }, [client, fetchPage, prefix, agent, round]);

  const lowest = rows.at(-1)?.seq;
  const older = useCallback(() => {
    if (busy.current || !more || lowest === undefined) return;
    busy.current = true;
    fetchPage(lowest)
      .then(
        (page) => {
          setRows((newer) => merge(newer, page.events));
          setMore(page.more);
        },
        (fault: Fault) => setError(fault),
      )
      .finally(() => {
        busy.current = false;
      });
  }, [fetchPage, lowest, more]);

  return { rows, more, loading, error, older };
}
