import { expect, test } from "vitest";

/**
 * What each folder may import, besides itself and packages. A feature is a
 * folder of its own, so that none can import another.
 */
const allowed: Record<string, string[]> = {
  lib: ["api/types"],
  api: [],
  ui: ["api", "lib"],
  features: ["api", "lib", "ui"],
  app: ["api", "lib", "ui", "features"],
};

const sources = import.meta.glob<string>("./**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });

function folderOf(path: string): string {
  const [, top = "", second = ""] = path.split("/");
  return top === "features" ? `features/${second}` : top;
}

function resolve(from: string, to: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of to.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function importsOf(source: string): string[] {
  return [...source.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map((match) => match[1] ?? "");
}

/** Returns why path may not import target, or undefined. */
function refusal(path: string, target: string): string | undefined {
  const [from, to] = [folderOf(path), folderOf(target)];
  if (from === to) return undefined;
  const rules = allowed[from.split("/")[0] ?? ""];
  const file = target.replace(/^\.\//, "");
  return rules?.some((rule) => file === rule || file.startsWith(rule + "/")) ? undefined : `${path} imports ${target}`;
}

test("folders import only what lies below them, and no feature another", () => {
  const checked = Object.entries(sources).filter(
    ([path]) => folderOf(path) in allowed || path.startsWith("./features/"),
  );
  expect(checked.length).toBeGreaterThan(40);
  const found = checked
    .filter(([path]) => !path.includes(".test."))
    .flatMap(([path, source]) => importsOf(source).map((to) => refusal(path, resolve(path, to))));
  expect(found.filter(Boolean)).toEqual([]);
});

test("every folder of the sources is in the table", () => {
  const folders = new Set(Object.keys(sources).map((path) => path.split("/")[1] ?? ""));
  const known = [...Object.keys(allowed), "test", "main.tsx", "architecture.test.ts"];
  expect([...folders].filter((folder) => !known.includes(folder))).toEqual([]);
});

test("the rule refuses what it should", () => {
  expect(refusal("./features/audit/a.ts", "./features/settings/b")).toBeDefined();
  expect(refusal("./lib/a.ts", "./ui/button")).toBeDefined();
  expect(refusal("./api/a.ts", "./app/shell")).toBeDefined();
  expect(refusal("./ui/a.tsx", "./features/audit/b")).toBeDefined();
  expect(refusal("./features/audit/a.ts", "./lib/time")).toBeUndefined();
});
