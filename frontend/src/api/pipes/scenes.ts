import type { Session } from "../types";
import { FakeHost } from "./fake";

/** Draws something like a web page, so that the live picture can be seen to live. */
function drawPage(session: Session): string {
  const [width, height] = [480, 300];
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d");
  if (!pen) return "";
  const tab = session.tabs.find((t) => t.active);
  const hue = [...(tab?.url ?? "")].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 360, 7);
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, width, height);
  pen.fillStyle = `hsl(${hue} 38% 34%)`;
  pen.fillRect(0, 0, width, 46);
  pen.fillStyle = "#fff";
  pen.font = "600 17px sans-serif";
  pen.fillText((tab?.title ?? "").slice(0, 40), 18, 29);
  const beat = Math.floor(Date.now() / 1_000) % 6;
  for (let i = 0; i < 6; i++) {
    const [x, y] = [18 + (i % 3) * 150, 66 + Math.floor(i / 3) * 114];
    pen.fillStyle = i === beat ? `hsl(${hue} 45% 86%)` : "#eceef0";
    pen.fillRect(x, y, 138, 70);
    pen.fillStyle = "#cfd3d7";
    pen.fillRect(x, y + 78, 100, 8);
    pen.fillRect(x, y + 92, 62, 8);
  }
  return canvas.toDataURL("image/jpeg", 0.8).split(",")[1] ?? "";
}

/**
 * A fake host with something going on, for working on the interface.
 * "empty": nobody is there yet. "busy": agents at work, nothing asked.
 * "question", "questions": one or several wait. "down": Chromium is missing.
 * "lost": the pipe breaks after a moment. "many": more than anyone should have.
 */
export function scene(name: string): FakeHost {
  const host = new FakeHost();
  host.draw = drawPage;
  if (name === "empty") return host;
  if (name === "down") {
    host.health.status = "down";
    host.health.chromium = {
      error: "Chromium was not found. Install it with: sudo apt-get install chromium",
    };
    return host;
  }

  const shopper = host.connect("shopper");
  const coder = host.connect("claude-code · refactor-the-payment-service-and-its-tests");
  if (!shopper || !coder) return host;
  host.show(shopper, "https://shop.example/search?q=kettle", "Search: kettle – The Shop");
  host.show(shopper, "https://shop.example/p/4411/gooseneck-kettle", "Gooseneck kettle, 0.9 l – The Shop", 2);
  host.show(coder, "https://docs.example.org/guides/payments/idempotency", "Idempotency – Payments guide");
  host.connect("nightly-report", { window: false });
  const reporter = host.agents.find((agent) => agent.agent === "nightly-report");
  if (reporter) reporter.state = "paused";
  host.tell("agent.paused", { subject: "nightly-report", agent: "nightly-report" });
  host.sites = [
    { origin: "https://docs.example.org", access: "allow", at: host.now() },
    { origin: "https://shop.example", access: "allow", at: host.now() },
    { origin: "https://ads.tracker.example", access: "block", at: host.now() },
  ];
  for (const method of ["navigate", "get_browser_state", "input_text", "press", "find_element"]) {
    host.act("shopper", method, 2)();
  }
  host.act("shopper", "click_element", 2)("BROWSER_TIMEOUT");
  host.act(coder.agent, "scroll")();
  host.act(coder.agent, "get_browser_state");

  if (name === "many") {
    for (let i = 0; i < 14; i++) {
      const session = host.connect(`worker-${i + 1}`);
      if (session) host.show(session, `https://site-${i}.example/`, `Site ${i}`);
    }
    for (let i = 0; i < 20_000; i++) host.tell("agent.action.completed", { agent: "worker-1", data: { method: "scroll", ms: i % 900 } });
  }
  if (name === "lost") setTimeout(() => host.lose(), 300);
  if (name === "question" || name === "questions") {
    host.ask("shopper", "https://pay.checkout-partner.example/session/8f3a91c2/confirm?cart=4411&return=https%3A%2F%2Fshop.example%2Fthanks&utm_source=shop", {
      via: "page",
      fromOrigin: "https://shop.example",
      fromTitle: "Gooseneck kettle, 0.9 l – The Shop",
      httpMethod: "POST",
      hasBody: true,
      risk: "high",
      notes: ["A form is sent to another site than the one that shows it."],
    });
  }
  if (name === "questions") {
    host.ask(coder.agent, "https://registry.example.net/packages/idempotency-key", { via: "direct" });
    host.ask("shopper", "http://news.example/kettles", { via: "redirect", fromOrigin: "https://shop.example", risk: "high", notes: ["The connection is not encrypted: what is sent can be read on its way."] });
  }
  if (name === "busy") {
    const methods = ["get_browser_state", "scroll", "click_element", "input_text", "wait_for"];
    let turn = 0;
    setInterval(() => {
      const end = host.act("shopper", methods[turn++ % methods.length] ?? "wait", 2);
      setTimeout(() => end(), 700);
    }, 1_600);
  }
  return host;
}
