import { afterEach, expect, test, vi } from "vitest";

import { wailsPipe } from "./wails";

const page = window as unknown as Record<string, unknown>;

afterEach(() => {
  delete page["go"];
  delete page["runtime"];
});

test("there is none outside the window", () => {
  expect(wailsPipe()).toBeUndefined();
});

test("it speaks through the bound App and hears batches", async () => {
  let listener: (json: string) => void = () => {};
  const paint = vi.fn();
  page["go"] = { main: { App: { Send: async (line: string) => `answer to ${line}` } } };
  page["runtime"] = {
    EventsOn: (name: string, heard: (json: string) => void) => {
      expect(name).toBe("events");
      listener = heard;
      return () => {};
    },
    WindowSetBackgroundColour: paint,
  };
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => {} }));
  const pipe = wailsPipe();
  expect(await pipe?.send("x")).toBe("answer to x");
  const heard: unknown[] = [];
  pipe?.onEvents((events) => heard.push(...events));
  listener('[{"seq":1},{"seq":2}]');
  expect(heard).toEqual([{ seq: 1 }, { seq: 2 }]);
  expect(paint).toHaveBeenCalledWith(0x14, 0x15, 0x18, 255);
});
