/** The shapes that the people's methods speak. */

export type Access = "allow" | "ask" | "block";

export interface Event {
  seq: number;
  at: string;
  category: string;
  subject?: string;
  agent?: string;
  call?: string;
  data?: Record<string, unknown>;
  hash: string;
}

export interface Tier {
  name: string;
  status: "up" | "starting" | "down";
  error?: string;
}

export interface Health {
  status: "ok" | "degraded" | "down";
  version: string;
  startedAt: string;
  tiers: Tier[];
  chromium: { path?: string; version?: string; error?: string };
  display: { ok: boolean; error?: string };
  ledger: { rows: number; bytes: number; last: number };
}

export interface Agent {
  agent: string;
  connected: boolean;
  lines: number;
  state: "ready" | "paused" | "stopped" | "gone";
  connectedAt?: string;
  actions: number;
  running?: { call: string; method: string; tab?: number; startedAt: string };
  lastAction?: { method: string; at: string; ok: boolean; code?: string };
}

export interface Tab {
  tabId: number;
  url: string;
  title: string;
  status: "opening" | "loading" | "idle" | "closed";
  active: boolean;
  controlled: boolean;
  dialog?: { type: string; message: string };
  pendingApproval?: { question: string; origin: string; url: string };
}

export interface Session {
  session: string;
  agent: string;
  status: "starting" | "ready" | "busy" | "closing" | "closed" | "crashed";
  startedAt?: string;
  tabs: Tab[];
  activeTabId?: number;
  chromiumPid?: number;
  memoryBytes?: number;
  error?: string;
}

export interface Question {
  question: string;
  agent: string;
  session: string;
  tabId: number;
  kind: "navigation";
  via: "direct" | "page" | "redirect" | "popup" | "history";
  askedAt: string;
  fromOrigin?: string;
  fromTitle?: string;
  url: string;
  origin: string;
  httpMethod: string;
  hasBody?: boolean;
  risk: "low" | "high";
  notes: string[];
}

export type Answer = "allow_once" | "allow_always" | "block_once" | "block_always";

export interface Overview {
  health: Health;
  agents: Agent[];
  sessions: Session[];
  questions: Question[];
  attended: boolean;
  counts: { actions: number; questions: number; errors: number };
}

export interface Settings {
  agentControl: boolean;
  navigation: Access;
}

export interface Site {
  origin: string;
  access: "allow" | "block";
  at: string;
}

export interface Visit {
  id: number;
  at: string;
  agent: string;
  url: string;
  title: string;
}

export interface Verification {
  ok: boolean;
  rows: number;
  first: number;
  last: number;
  brokenAt?: number;
  why?: string;
}

export interface Thumbnail {
  /** A JPEG in base64, at most 480 pixels wide. */
  image: string;
  width: number;
  height: number;
  at: string;
}

export interface ConnectInfo {
  command: string;
  snippets: { title: string; language: string; text: string }[];
}

type None = Record<string, never>;

/** Every method that the interface calls, with its arguments and its result. */
export interface Methods {
  overview: { args: None; result: Overview };
  sessions: { args: None; result: { sessions: Session[] } };
  thumbnail: { args: { session: string; tabId?: number }; result: Thumbnail };
  pause_agent: { args: { agent: string }; result: None };
  resume_agent: { args: { agent: string }; result: None };
  stop_agent: { args: { agent: string }; result: None };
  close_session: { args: { session: string }; result: None };
  questions: { args: None; result: { questions: Question[] } };
  answer_question: { args: { question: string; answer: Answer }; result: { matched: boolean } };
  settings: { args: None; result: { settings: Settings } };
  change_settings: { args: Partial<Settings>; result: { settings: Settings } };
  sites: { args: None; result: { sites: Site[] } };
  set_site: { args: { origin: string; access: Site["access"] }; result: { site: Site } };
  remove_site: { args: { origin: string }; result: { removed: boolean } };
  history: { args: { query?: string; before?: number; limit?: number }; result: { visits: Visit[]; more: boolean } };
  remove_visit: { args: { id: number }; result: None };
  clear_history: { args: None; result: { removed: number } };
  audit: {
    args: { prefix?: string; agent?: string; subject?: string; before?: number; limit?: number };
    result: { events: Event[]; more: boolean; last: number };
  };
  verify_audit: { args: None; result: Verification };
  connect_info: { args: None; result: ConnectInfo };
  window_state: { args: { focused: boolean }; result: None };
}

export type Method = keyof Methods;
