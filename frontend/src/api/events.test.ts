import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";

import { keepFresh, within } from "./events";
import { FakeHost } from "./pipes/fake";
import { keys } from "./queries";

function watched(key: readonly string[], fetch: () => Promise<number>) {
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity, retry: false } } });
  const observer = new QueryObserver(cache, { queryKey: key, queryFn: fetch });
  const end = observer.subscribe(() => {});
  return { cache, end };
}

test.each([
  ["browser.tab.opened", "browser", true],
  ["browser", "browser", true],
  ["browsers.x", "browser", false],
  ["site.removed", "site.remove", false],
])("%s within %s: %s", (category, prefix, yes) => expect(within(category, prefix)).toBe(yes));

test("an event makes stale what it is about, and nothing else", async () => {
  const host = new FakeHost();
  const fetch = vi.fn(async () => 1);
  const { cache, end } = watched(keys.sites, fetch);
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(1));
  const off = keepFresh(host, cache);
  host.tell("agent.connected");
  host.tell("person.action.completed", { data: { method: "sites" } });
  host.tell("site.changed");
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(2));
  host.tell("browser.tab.opened");
  host.tell("site.removed");
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(3));
  off();
  end();
});

test("a storm of events is one fetch at a time, and one after the last", async () => {
  const host = new FakeHost();
  let running = 0;
  let most = 0;
  let state = 0;
  let seen = -1;
  const fetch = vi.fn(async () => {
    most = Math.max(most, ++running);
    const now = state;
    await new Promise((resolve) => setTimeout(resolve, 2));
    running--;
    return (seen = now);
  });
  const { cache, end } = watched(keys.overview, fetch);
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(1));
  const off = keepFresh(host, cache);
  for (let i = 0; i < 5_000; i++) {
    state = i;
    host.tell("agent.action.completed");
  }
  await vi.waitFor(() => expect(seen).toBe(4_999));
  expect(most).toBe(1);
  expect(fetch.mock.calls.length).toBeLessThan(10);
  off();
  end();
});

test("a gap in the numbers and a pipe that comes back make everything stale", async () => {
  const host = new FakeHost();
  const fetch = vi.fn(async () => 1);
  const { cache, end } = watched(keys.connect, fetch);
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(1));
  const off = keepFresh(host, cache);
  host.tell("policy.decided");
  host.log.push({ ...host.log[0]!, seq: 9 });
  host.tell("policy.decided");
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(2));
  host.lose();
  host.tell("policy.decided");
  host.restore();
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(3));
  off();
  host.restore();
  host.tell("setting.changed");
  expect(fetch).toHaveBeenCalledTimes(3);
  end();
});
