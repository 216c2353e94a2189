import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// What the page may load and reach: itself, pictures handed over as data, nothing else.
// Radix and React set styles inline.
const policy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

// The development server injects inline scripts, so the policy is part of builds only.
const contentSecurityPolicy: Plugin = {
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: () => [
    { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: policy }, injectTo: "head-prepend" },
  ],
};

export default defineConfig({
  plugins: [react(), tailwindcss(), contentSecurityPolicy],
  // WebKitGTK 2.40 and Chromium 111 are the oldest that Tailwind 4 supports.
  build: { target: ["safari16.4", "chrome111"], chunkSizeWarningLimit: 700 },
  test: {
    globals: true,
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test/setup.ts"],
    css: false,
    // A failed look-up would print the whole page.
    env: { DEBUG_PRINT_LIMIT: "0" },
    // A busy machine of two cores takes seconds for what an idle one does in milliseconds.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
