import type { Event, Overview, Question } from "../api/types";
import { hostOf } from "./address";
import { several } from "./amount";
import { duration } from "./time";

/** What an agent does while a method runs. */
const doing: Record<string, string> = {
  get_browser_state: "Reading the page",
  current_page: "Looking where it is",
  take_screenshot: "Taking a screenshot",
  find_element: "Looking for an element",
  navigate: "Opening a page",
  back: "Going back",
  forward: "Going forward",
  reload: "Reloading the page",
  press: "Pressing a key",
  click_element: "Clicking",
  click_at: "Clicking at a point",
  hover_element: "Pointing at an element",
  input_text: "Typing",
  select_option: "Choosing an option",
  fill_fields: "Filling in a form",
  scroll: "Scrolling",
  scroll_horizontally: "Scrolling sideways",
  wait: "Waiting",
  wait_for: "Waiting for the page",
  handle_dialog: "Answering a dialog",
  open_new_tab: "Opening a tab",
  switch_to_tab: "Switching tabs",
  close_tab: "Closing a tab",
};

/** "Clicking" for click_element; a method that has no words of its own is named as it is. */
export function doingOf(method: string): string {
  return doing[method] ?? sentence(method);
}

function sentence(name: string): string {
  const words = name.replaceAll("_", " ").replaceAll(".", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What happened, for a category; the rest of the row says to whom. */
const happened: Record<string, string> = {
  "agent.connected": "Connected",
  "agent.disconnected": "Disconnected",
  "agent.paused": "Paused by you",
  "agent.resumed": "Resumed by you",
  "agent.stopped": "Stopped by you",
  "agent.action.started": "Began",
  "agent.action.completed": "Done",
  "agent.action.failed": "Failed",
  "agent.action.rejected": "Rejected",
  "person.action.started": "Began",
  "person.action.completed": "Done",
  "person.action.failed": "Failed",
  "browser.session.created": "Window asked for",
  "browser.session.ready": "Window ready",
  "browser.session.closed": "Window closed",
  "browser.session.crashed": "Browser crashed",
  "browser.tab.opened": "Tab opened",
  "browser.tab.closed": "Tab closed",
  "browser.tab.changed": "Tab changed",
  "browser.tab.refused": "Tab refused",
  "browser.navigation.started": "Loading",
  "browser.navigation.completed": "Loaded",
  "browser.navigation.held": "Held for your answer",
  "browser.navigation.refused": "Refused",
  "browser.download.refused": "Download refused",
  "browser.dialog.opened": "Page opened a dialog",
  "browser.dialog.closed": "Page’s dialog closed",
  "approval.asked": "Asked you",
  "approval.settled": "Question settled",
  "policy.decided": "Rule applied",
  "setting.changed": "Setting changed",
  "site.changed": "Site rule set",
  "site.removed": "Site rule removed",
  "history.removed": "Visit removed",
  "history.cleared": "History cleared",
  "host.started": "Chaperone started",
};

/** What happened in a row of the log, in a few words. */
export function happenedOf(category: string): string {
  return happened[category] ?? sentence(category);
}

/** Whether a row tells of something that went wrong or was refused. */
export function toneOf(event: Event): "plain" | "warn" | "bad" {
  const last = event.category.split(".").at(-1) ?? "";
  if (last === "failed" || last === "crashed") return "bad";
  if (last === "rejected" || last === "refused" || last === "held" || last === "asked" || last === "stopped") return "warn";
  if (event.category === "approval.settled" && dataOf(event)["allowed"] === false) return "warn";
  return "plain";
}

/** The particulars of a row: an object, of a form that its category decides. */
function dataOf({ data }: Event): Record<string, unknown> {
  return typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
}

const answers: Record<string, string> = {
  allow_once: "allowed once",
  allow_always: "always allowed",
  block_once: "blocked once",
  block_always: "always blocked",
};

/** The particulars of a row that fit on its line. */
export function particulars(event: Event): string {
  const data = dataOf(event);
  const text = (name: string) => (typeof data[name] === "string" ? data[name] : "");
  const parts: string[] = [];
  if (text("method")) parts.push(text("method"));
  if (typeof data["tab"] === "number" && data["tab"] > 0) parts.push(`tab ${data["tab"]}`);
  if (text("answer")) parts.push(answers[text("answer")] ?? text("answer"));
  if (text("url")) parts.push(text("url"));
  else if (text("origin")) parts.push(hostOf(text("origin")));
  else if (text("title")) parts.push(text("title"));
  else if (event.category.startsWith("site.")) parts.push(hostOf(event.subject ?? ""));
  if (text("access")) parts.push(text("access"));
  if (text("code")) parts.push(text("code"));
  else if (text("reason")) parts.push(text("reason"));
  if (typeof data["ms"] === "number") parts.push(duration(data["ms"]));
  if (parts.length === 0 && event.subject && event.subject !== event.agent) parts.push(event.subject);
  return parts.join(" · ");
}

/** How the agent came to this address. */
export function viaOf(question: Question): string {
  switch (question.via) {
    case "direct":
      return "The agent asked for this address.";
    case "page":
      return question.hasBody
        ? "The page sends a form there."
        : "The agent followed a link, or the page’s script went there.";
    case "redirect":
      return "The site it was opening sends it on to this one.";
    case "popup":
      return "The page opens it in a new tab.";
    case "history":
      return "The agent goes back or forward to it.";
    default:
      return "The agent’s page is about to go there.";
  }
}

export interface Wellbeing {
  tone: "ok" | "warn" | "bad";
  title: string;
  detail: string;
}

/** How the host is, in words: the worst thing first. */
export function wellbeing({ health, agents, questions, attended }: Overview, agentControl = true): Wellbeing {
  const down = health.tiers.find((tier) => tier.status === "down");
  if (down) {
    return {
      tone: "bad",
      title: "A part of Chaperone is not running",
      detail: `${sentence(down.name)}: ${down.error ?? "it is down"}. It is started again by itself.`,
    };
  }
  if (health.chromium.error) return { tone: "bad", title: "Chromium cannot be used", detail: health.chromium.error };
  if (!health.display.ok) {
    return { tone: "bad", title: "There is no display for agents’ windows", detail: health.display.error ?? "" };
  }
  if (health.status === "down") {
    return { tone: "bad", title: "Chaperone is not working", detail: "Its log says more." };
  }
  if (!agentControl) {
    return {
      tone: "warn",
      title: "Agent control is off",
      detail: "Agents may stay connected, but every action is refused until you turn it on.",
    };
  }
  const starting = health.tiers.find((tier) => tier.status === "starting");
  if (starting) return { tone: "warn", title: "Chaperone is starting", detail: `${sentence(starting.name)} is not ready yet.` };
  if (health.status === "degraded") {
    return { tone: "warn", title: "Chaperone works, but not fully", detail: "The parts below say more." };
  }
  if (!attended) {
    return { tone: "warn", title: "Nobody counts as being here", detail: "What would be asked is refused." };
  }
  if (questions.length > 0) {
    return {
      tone: "warn",
      title: questions.length === 1 ? "A question waits for you" : `${several(questions.length, "question")} wait for you`,
      detail: "The agent’s page is held until you answer.",
    };
  }
  const connected = agents.filter((agent) => agent.connected).length;
  return {
    tone: "ok",
    title: "All is well",
    detail:
      connected === 0
        ? "No agent is connected."
        : `${several(connected, "agent")} connected. Nothing waits for you.`,
  };
}
