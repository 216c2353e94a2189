import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

const css = readFileSync("src/ui/tokens.css", "utf8");

/** The tokens of the first and the second :root, which are those of light and of dark. */
const [light = {}, dark = {}] = [...css.matchAll(/:root\s*\{([^}]*)\}/g)].map((block) =>
  Object.fromEntries([...(block[1] ?? "").matchAll(/--([a-z-]+):\s*(#[0-9a-f]{6})/g)].map((m) => [m[1] ?? "", m[2] ?? ""])),
);

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((i) => {
    const c = parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const plainGrounds = ["ground", "side", "surface", "sunken", "hover"];
const texts: [text: string, grounds: string[]][] = [
  ["text", [...plainGrounds, "accent-soft", "warn-soft", "bad-soft"]],
  ["muted", [...plainGrounds, "accent-soft", "warn-soft", "bad-soft"]],
  ["faint", ["surface", "sunken"]],
  ["accent", ["surface", "accent-soft"]],
  ["warn", ["ground", "surface", "warn-soft"]],
  ["bad", ["ground", "surface", "bad-soft", "accent-soft"]],
  ["good", ["ground", "surface"]],
  ["on-accent", ["accent", "accent-strong"]],
];

describe.each([
  ["light", light],
  ["dark", dark],
])("%s", (_, tokens) => {
  test.each(texts.flatMap(([text, grounds]) => grounds.map((ground) => [text, ground])))(
    "%s can be read on %s",
    (text, ground) => expect(contrast(tokens[text] ?? "", tokens[ground] ?? "")).toBeGreaterThanOrEqual(4.5),
  );

  // WCAG 1.4.11: what one must see to find a control.
  test.each([["accent", "surface"], ["accent", "ground"], ["control", "surface"]])("%s can be seen on %s", (mark, ground) =>
    expect(contrast(tokens[mark] ?? "", tokens[ground] ?? "")).toBeGreaterThanOrEqual(3),
  );
});
