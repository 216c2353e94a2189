import { describe, expect, test } from "vitest";

import type { Event, Overview, Question } from "../api/types";
import { hostOf, splitAddress, toOrigin } from "./address";
import { bytes, count, several } from "./amount";
import { plain } from "./plain";
import { ago, clock, day, duration, exact } from "./time";
import { doingOf, happenedOf, particulars, toneOf, viaOf, wellbeing } from "./words";

describe("addresses", () => {
  test.each([
    ["https://shop.example/a?b=c#d", { before: "https://", host: "shop.example", after: "/a?b=c#d", insecure: false }],
    ["https://shop.example/", { before: "https://", host: "shop.example", after: "", insecure: false }],
    ["http://shop.example:8080/x", { before: "http://", host: "shop.example:8080", after: "/x", insecure: true }],
    ["http://shop.localhost:8080/x", { before: "http://", host: "shop.localhost:8080", after: "/x", insecure: false }],
    ["http://127.0.0.1/", { before: "http://", host: "127.0.0.1", after: "", insecure: false }],
    // The name before the @ is no host.
    ["https://bank.example@evil.example/", { before: "https://bank.example@", host: "evil.example", after: "", insecure: false }],
    ["https://u:secret@evil.example/", { before: "https://u:•••@", host: "evil.example", after: "", insecure: false }],
    // A host in letters that look like others shows its real name.
    ["https://аpple.example/", { before: "https://", host: "xn--pple-43d.example", after: "", insecure: false }],
    ["about:blank", { before: "", host: "", after: "about:blank", insecure: false }],
    ["not an address", { before: "", host: "", after: "not an address", insecure: false }],
  ])("%s", (address, parts) => expect(splitAddress(address)).toEqual(parts));

  test("the host of an origin or of what is none", () => {
    expect(hostOf("https://pay.example:444")).toBe("pay.example:444");
    expect(hostOf("null")).toBe("null");
  });

  test.each([
    ["shop.example", "https://shop.example"],
    ["  Shop.Example/path?x ", "https://shop.example"],
    ["http://shop.example:80/", "http://shop.example"],
    ["https://shop.example:8443", "https://shop.example:8443"],
    ["shop.example:8443", "https://shop.example:8443"],
    ["localhost:3000", "http://localhost:3000"],
    ["pay.localhost:3000/x", "http://pay.localhost:3000"],
    ["", undefined],
    ["two words", undefined],
    ["ftp://files.example", undefined],
    ["javascript:alert(1)", undefined],
    ["https://", undefined],
  ])("%j is the origin %j", (text, origin) => expect(toOrigin(text)).toBe(origin));
});

test("plain shows what would turn or hide text", () => {
  expect(plain("gepj\u202e.exe")).toBe("gepj\ufffd.exe");
  expect(plain("a\nb\u200bc\ufeff")).toBe("a\ufffdb\ufffdc\ufffd");
  expect(plain("Grüße 漢字 🫖")).toBe("Grüße 漢字 🫖");
});

describe("times", () => {
  const at = new Date(2026, 10, 30, 4, 3, 2, 41);
  test("on the clock", () => {
    expect(clock(at)).toBe("04:03:02");
    expect(day(at)).toBe("30 Nov 2026");
    expect(exact(at)).toBe("30 Nov 2026, 04:03:02.041");
  });
  test.each([
    [0, "0 ms"],
    [999.4, "999 ms"],
    [1_000, "1.0 s"],
    [59_949, "59.9 s"],
    [59_950, "0 min 59 s"],
    [250_000, "4 min 10 s"],
    [7_500_000, "2 h 5 min"],
  ])("%d ms is %s", (ms, words) => expect(duration(ms)).toBe(words));
  test.each([
    [-3_000, "just now"],
    [4_999, "just now"],
    [12_000, "12 s ago"],
    [240_000, "4 min ago"],
    [3 * 3_600_000, "3 h ago"],
    [30 * 3_600_000, "30 Nov 2026"],
  ])("%d ms later", (ms, words) => expect(ago(at, new Date(at.getTime() + ms))).toBe(words));
});

test("amounts", () => {
  expect([0, 999, 1_000, 1_234_567].map(count)).toEqual(["0", "999", "1,000", "1,234,567"]);
  expect([several(1, "row"), several(2, "row"), several(0, "match", "matches")]).toEqual(["1 row", "2 rows", "0 matches"]);
  expect([812, 4_210, 98_304, 999_600, 212_000_000, 4_260_000_000].map(bytes)).toEqual([
    "812 B",
    "4.2 kB",
    "98 kB",
    "1.0 MB",
    "212 MB",
    "4.3 GB",
  ]);
});

describe("words", () => {
  test("methods and categories, known and unknown", () => {
    expect(doingOf("click_element")).toBe("Clicking");
    expect(doingOf("play_music")).toBe("Play music");
    expect(happenedOf("approval.asked")).toBe("Asked you");
    expect(happenedOf("browser.tab.merged")).toBe("Browser tab merged");
  });

  const event = (category: string, data?: Record<string, unknown>, subject?: string): Event => ({
    seq: 1,
    at: "2026-11-30T00:00:00Z",
    category,
    hash: "",
    ...(data ? { data } : {}),
    ...(subject ? { subject } : {}),
  });

  test.each([
    [event("agent.action.failed", { method: "navigate", tab: 2, ms: 1_500, code: "BROWSER_TIMEOUT" }), "navigate · tab 2 · BROWSER_TIMEOUT · 1.5 s"],
    [event("approval.settled", { answer: "block_always", allowed: false, reason: "the person answered" }), "always blocked · the person answered"],
    [event("site.changed", { access: "allow" }, "https://a.example"), "a.example · allow"],
    [event("history.cleared"), ""],
    [event("browser.session.ready", undefined, "sess_1"), "sess_1"],
  ])("particulars of $category", (of, words) => expect(particulars(of)).toBe(words));

  test.each([
    [event("agent.action.completed"), "plain"],
    [event("agent.action.failed"), "bad"],
    [event("browser.navigation.refused"), "warn"],
    [event("approval.settled", { allowed: false }), "warn"],
    [event("approval.settled", { allowed: true }), "plain"],
  ])("tone of %o", (of, tone) => expect(toneOf(of)).toBe(tone));

  test("every way to a question has its sentence", () => {
    const via = (of: Partial<Question>) => viaOf(of as Question);
    const sentences = [
      via({ via: "direct" }),
      via({ via: "page" }),
      via({ via: "page", hasBody: true }),
      via({ via: "redirect" }),
      via({ via: "popup" }),
      via({ via: "history" }),
    ];
    expect(new Set(sentences).size).toBe(6);
    expect(via({ via: "page", hasBody: true })).toContain("form");
  });
});

describe("wellbeing says the worst first", () => {
  const well: Overview = {
    health: {
      status: "ok",
      version: "1",
      startedAt: "",
      tiers: [{ name: "ledger", status: "up" }],
      chromium: {},
      display: { ok: true },
      ledger: { rows: 0, bytes: 0, last: 0 },
    },
    agents: [],
    sessions: [],
    questions: [],
    attended: true,
    counts: { actions: 0, questions: 0, errors: 0 },
    last: 0,
  };
  const health = (more: Partial<Overview["health"]>): Overview => ({ ...well, health: { ...well.health, ...more } });

  test.each<[string, Overview, boolean, "ok" | "warn" | "bad", string]>([
    ["nobody", well, true, "ok", "No agent is connected."],
    ["a tier down", health({ status: "degraded", tiers: [{ name: "ledger", status: "down", error: "disk full" }] }), false, "bad", "Ledger: disk full"],
    ["no Chromium", health({ status: "down", chromium: { error: "not found" } }), true, "bad", "not found"],
    ["no display", health({ status: "down", display: { ok: false, error: "none" } }), true, "bad", "none"],
    ["down for no known reason", health({ status: "down" }), true, "bad", "log"],
    ["control off", well, false, "warn", "refused"],
    ["starting", health({ tiers: [{ name: "doors", status: "starting" }] }), true, "warn", "Doors"],
    ["degraded", health({ status: "degraded" }), true, "warn", "parts"],
    ["unattended", { ...well, attended: false }, true, "warn", "refused"],
  ])("%s", (_, overview, control, tone, part) => {
    const state = wellbeing(overview, control);
    expect(state.tone).toBe(tone);
    expect(state.detail).toContain(part);
  });
});
