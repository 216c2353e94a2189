import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach } from "vitest";

/** An answer line of the host. */
export interface Line {
  ok: boolean;
  result?: any;
  error?: { code: string; message: string; hint?: string };
}

/**
 * What a spec plays on: the host under test, its scripted agent, the person's
 * page in a browser, and a web of the spec's own.
 */
export class Stage {
  page!: Page;
  #browser!: Browser;
  #web!: Server;
  #calls = 0;

  /** The address of a page on a site of the test web; every name is another site. */
  site(name: string, path = "/"): string {
    return `http://${name}.localhost:${(this.#web.address() as AddressInfo).port}${path}`;
  }

  /** Has the agent call a method; resolves when it is answered. */
  agent(method: string, args: object = {}): Promise<Line> {
    return this.#post("/agent", method, args);
  }

  /** Sends a line as the person; for what a test prepares and looks up, not for what it tests. */
  person(method: string, args: object = {}): Promise<Line> {
    return this.#post("/line", method, args);
  }

  /** Goes to a view of the interface. */
  async view(title: "Dashboard" | "Browsers" | "Audit" | "Settings"): Promise<void> {
    await this.page.getByRole("link", { name: title }).click();
    await this.page.getByRole("heading", { level: 1, name: title }).waitFor();
  }

  /** Waits for the question about a site, and until it takes an answer. */
  async question(name: string): Promise<void> {
    const host = new URL(this.site(name)).host;
    await this.page.getByRole("alertdialog", { name: `Open ${host}?` }).waitFor();
    await this.page.waitForTimeout(450); // the time in which a question ignores what was meant for something else
  }

  async #post(path: string, method: string, args: object): Promise<Line> {
    const id = `${path}-${++this.#calls}-${process.pid}-${Date.now()}`;
    const answer = await fetch(base() + path, { method: "POST", body: JSON.stringify({ id, method, args }) });
    return (await answer.json()) as Line;
  }

  async open(): Promise<void> {
    this.#web = createServer((request, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end(`<!doctype html><title>Page of ${request.headers.host}</title><h1>Welcome</h1><a href="/next">Next</a>`);
    });
    await new Promise<void>((listening) => this.#web.listen(0, "127.0.0.1", listening));
    this.#browser = await chromium.launch({
      executablePath: process.env["CHAPERONE_CHROMIUM"] ?? "/usr/bin/chromium",
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    });
    const context = await this.#browser.newContext({ viewport: { width: 1180, height: 760 } });
    context.setDefaultTimeout(30_000);
    this.page = await context.newPage();
  }

  /** Opens the interface anew. */
  async enter(): Promise<void> {
    await this.page.goto(base() + "/#/dashboard");
    await this.page.getByRole("status", { name: "Health" }).waitFor();
  }

  async close(): Promise<void> {
    await this.#browser.close();
    this.#web.closeAllConnections();
    await new Promise((closed) => this.#web.close(closed));
  }
}

/** A stage for the specs of a file; the interface is opened anew for each. */
export function stage(): Stage {
  const it = new Stage();
  beforeAll(() => it.open());
  beforeEach(() => it.enter());
  afterAll(() => it.close());
  return it;
}

function base(): string {
  const url = process.env["CHAPERONE_UI_URL"];
  if (!url) throw new Error("CHAPERONE_UI_URL names no host; build/test-ui.sh starts one");
  return url;
}
