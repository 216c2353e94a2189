import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { httpPipe } from "./http";

class Stream {
  static all: Stream[] = [];
  onopen?: () => void;
  onmessage?: (message: { data: string }) => void;
  onerror?: () => void;
  closed = false;
  readonly url: string;
  constructor(url: string) {
    this.url = url;
    Stream.all.push(this);
  }
  close() {
    this.closed = true;
  }
}

beforeEach(() => {
  Stream.all = [];
  vi.stubGlobal("EventSource", Stream);
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

test("lines go by POST; another status than 200 is a loss", async () => {
  const fetch = vi.fn(async () => new Response('{"id":1,"ok":true}'));
  vi.stubGlobal("fetch", fetch);
  const pipe = httpPipe("http://h");
  expect(await pipe.send('{"id":1}')).toBe('{"id":1,"ok":true}');
  expect(fetch).toHaveBeenCalledWith("http://h/line", { method: "POST", body: '{"id":1}' });
  fetch.mockResolvedValueOnce(new Response("", { status: 502 }));
  await expect(pipe.send("{}")).rejects.toThrow("502");
});

test("a stream that breaks is opened again, ever more slowly, until it opens", () => {
  const pipe = httpPipe("http://h");
  const states: string[] = [];
  const heard: unknown[] = [];
  pipe.onState((state) => states.push(state));
  pipe.onEvents((events) => heard.push(...events));
  Stream.all[0]?.onopen?.();
  Stream.all[0]?.onmessage?.({ data: '[{"seq":1}]' });
  Stream.all[0]?.onerror?.();
  expect(Stream.all[0]?.closed).toBe(true);
  vi.advanceTimersByTime(250);
  Stream.all[1]?.onerror?.();
  vi.advanceTimersByTime(499);
  expect(Stream.all).toHaveLength(2);
  vi.advanceTimersByTime(1);
  Stream.all[2]?.onopen?.();
  Stream.all[2]?.onmessage?.({ data: '[{"seq":2}]' });
  expect(states).toEqual(["lost", "open"]);
  expect(heard).toEqual([{ seq: 1 }, { seq: 2 }]);
  expect(Stream.all.map((s) => s.url)).toEqual(Array(3).fill("http://h/events"));
});
