import { defineConfig } from "vitest/config";

/** The interface in a real browser, on the real host that CHAPERONE_UI_URL names. */
export default defineConfig({
  root: import.meta.dirname,
  cacheDir: "../node_modules/.vite",
  test: {
    include: ["*.spec.ts"],
    environment: "node",
    // One host, one agent, one person: one thing after another.
    fileParallelism: false,
    sequence: { concurrent: false },
    // The first action of an agent starts a Chromium.
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
