import { Listeners, type Pipe, type PipeState } from "../pipe";
import type {
  Agent,
  Answer,
  Event,
  Health,
  Method,
  Methods,
  Question,
  Session,
  Settings,
  Site,
  SiteAccess,
  Tab,
  Verification,
  Visit,
} from "../types";

/** The smallest picture that is a JPEG: one grey pixel. */
const pixel =
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z";

class Refusal extends Error {
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/**
 * A host in memory, for tests and for working on the interface: it answers every
 * method of Methods, keeps state as the real one does, and writes an event for
 * every change. Tests drive it by its methods (connect, ask, act …), and break it
 * with lose and failNext.
 */
export class FakeHost implements Pipe {
  agents: Agent[] = [];
  sessions: Session[] = [];
  questions: Question[] = [];
  settings: Settings = { agentControl: true, navigation: "ask" };
  sites: Site[] = [];
  visits: Visit[] = [];
  log: Event[] = [];
  health: Health;
  verification: Verification | undefined;
  /** Whether the person is looking, as the interface told. */
  focused: boolean | undefined;
  /** Every request that came in, for tests. */
  calls: { method: string; args: unknown }[] = [];
  /** Draws a session's picture; without it a grey pixel. */
  draw: (session: Session) => string = () => pixel;

  #events = new Listeners<Event[]>();
  #states = new Listeners<PipeState>();
  #lost = false;
  #failures = new Map<string, Refusal>();
  #batch: Event[] | undefined;
  #names = 0;

  constructor() {
    this.health = {
      status: "ok",
      version: "0.1.0",
      startedAt: this.now(),
      tiers: ["ledger", "browsers", "services", "doors"].map((name) => ({ name, status: "up" })),
      chromium: { path: "/usr/bin/chromium", version: "143.0.7499.40" },
      display: { ok: true },
      ledger: { rows: 0, bytes: 98_304, last: 0 },
    };
    this.tell("host.started");
  }

  // What a pipe does.

  async send(line: string): Promise<string> {
    if (this.#lost) throw new Error("the pipe is closed");
    const { id, method, args } = JSON.parse(line) as { id: unknown; method: Method; args: never };
    this.calls.push({ method, args });
    try {
      const failure = this.#failures.get(method);
      this.#failures.delete(method);
      if (failure) throw failure;
      const handler = this.#handlers[method] as ((args: never) => unknown) | undefined;
      if (!handler) throw new Refusal("UNKNOWN_METHOD", `there is no method ${method}`);
      // Through JSON, so that nobody holds a piece of the host's state.
      return JSON.stringify({ id, ok: true, result: handler(args) });
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      const { code, message, hint } = refusal;
      return JSON.stringify({ id, ok: false, error: { code, message, ...(hint ? { hint } : {}) } });
    }
  }

  onEvents(heard: (events: Event[]) => void): () => void {
    return this.#events.add(heard);
  }

  onState(changed: (state: PipeState) => void): () => void {
    return this.#states.add(changed);
  }

  // What tests and scenes do with it.

  /** The other end goes away: what is sent fails, and events that happen are missed. */
  lose(): void {
    this.#lost = true;
    this.#states.tell("lost");
  }

  /** The other end comes back. */
  restore(): void {
    this.#lost = false;
    this.#states.tell("open");
  }

  /** The next call of method is refused. */
  failNext(method: Method, code: string, message: string, hint?: string): void {
    this.#failures.set(method, new Refusal(code, message, hint));
  }

  /** Writes an event and tells of it. */
  tell(category: string, more: Partial<Event> = {}): void {
    const seq = (this.log.at(-1)?.seq ?? 0) + 1;
    const event: Event = { seq, at: this.now(), category, ...more, hash: fakeHash(seq) };
    this.log.push(event);
    this.health.ledger = { rows: this.log.length, bytes: 98_304 + this.log.length * 310, last: seq };
    if (this.#batch) this.#batch.push(event);
    else if (!this.#lost) this.#events.tell([event]);
  }

  /** Everything that do tells of reaches listeners as one batch. */
  together(what: () => void): void {
    const batch: Event[] = [];
    this.#batch = batch;
    try {
      what();
    } finally {
      this.#batch = undefined;
    }
    if (batch.length > 0 && !this.#lost) this.#events.tell(batch);
  }

  /** An agent comes in and gets a window. */
  connect(name: string, { window: open = true } = {}): Session | undefined {
    this.agents = this.agents.filter((agent) => agent.agent !== name);
    const id = `sess_${this.#name()}`;
    this.agents.push({
      agent: name,
      session: id,
      connected: true,
      lines: 1,
      state: "ready",
      connectedAt: this.now(),
      actions: 0,
    });
    this.tell("agent.connected", { subject: name, agent: name });
    if (!open) return undefined;
    const session: Session = {
      session: id,
      agent: name,
      status: "ready",
      startedAt: this.now(),
      tabs: [tab(1, "chrome://newtab/", "New tab")],
      activeTabId: 1,
      chromiumPid: 4200 + this.sessions.length,
    };
    this.sessions.push(session);
    this.tell("browser.session.ready", { subject: session.session, agent: name });
    return session;
  }

  /** An agent goes, and its window with it. */
  disconnect(name: string): void {
    const agent = this.#agent(name);
    agent.connected = false;
    agent.lines = 0;
    agent.state = "gone";
    delete agent.running;
    this.together(() => {
      this.sessions.filter((session) => session.agent === name).forEach((session) => this.#close(session));
      for (const question of this.questions.filter((q) => q.agent === name)) {
        this.settle(question.question, undefined, false, "the agent is gone");
      }
      this.tell("agent.disconnected", { subject: name, agent: name });
    });
  }

  /** An agent begins an action; the returned function ends it. */
  act(name: string, method: string, tabId = 1): (code?: string) => void {
    const agent = this.#agent(name);
    const call = `call_${this.#name()}`;
    const began = Date.now();
    agent.running = { call, method, tab: tabId, startedAt: this.now() };
    agent.actions++;
    const data = { method, tab: tabId };
    this.tell("agent.action.started", { subject: name, agent: name, call, data });
    return (code) => {
      delete agent.running;
      agent.lastAction = { method, at: this.now(), ok: !code, ...(code ? { code } : {}) };
      this.tell(code ? "agent.action.failed" : "agent.action.completed", {
        subject: name,
        agent: name,
        call,
        data: { ...data, ms: Date.now() - began, ...(code ? { code } : {}) },
      });
    };
  }

  /** An agent's tab shows a page. */
  show(session: Session, url: string, title: string, tabId = session.activeTabId ?? 1): void {
    let at = session.tabs.find((t) => t.tabId === tabId);
    if (!at) {
      at = tab(tabId, url, title);
      session.tabs.push(at);
    }
    session.tabs.forEach((t) => (t.active = t === at));
    session.activeTabId = tabId;
    Object.assign(at, { url, title, status: "idle" });
    this.visits.unshift({ id: this.visits.length + 1, at: this.now(), agent: session.agent, url, title });
    this.tell("browser.navigation.completed", {
      subject: session.session,
      agent: session.agent,
      data: { tab: tabId, url },
    });
  }

  /** An agent wants to open url, and the person is asked. */
  ask(name: string, url: string, more: Partial<Question> = {}): Question {
    const session = this.sessions.find((s) => s.agent === name);
    const question: Question = {
      question: `q_${this.#name()}`,
      agent: name,
      session: session?.session ?? "sess_0",
      tabId: session?.activeTabId ?? 1,
      kind: "navigation",
      via: "direct",
      askedAt: this.now(),
      url,
      origin: new URL(url).origin,
      httpMethod: "GET",
      risk: "low",
      notes: [],
      ...more,
    };
    this.questions.push(question);
    const held = session?.tabs.find((t) => t.tabId === question.tabId);
    if (held) held.pendingApproval = { question: question.question, origin: question.origin, url, since: question.askedAt };
    this.tell("approval.asked", { subject: question.question, agent: name, data: { origin: question.origin } });
    return question;
  }

  /** A question is settled, by the person or by what happened. */
  settle(id: string, answer: Answer | undefined, allowed: boolean, reason: string): void {
    this.questions = this.questions.filter((q) => q.question !== id);
    const held = this.sessions.flatMap((s) => s.tabs).find((t) => t.pendingApproval?.question === id);
    if (held) delete held.pendingApproval;
    this.tell("approval.settled", { subject: id, data: { ...(answer ? { answer } : {}), allowed, reason } });
  }

  /** The time that events and state carry. */
  now(): string {
    return new Date().toISOString();
  }

  // What it answers.

  readonly #handlers: { [M in Method]: (args: Methods[M]["args"]) => Methods[M]["result"] } = {
    agents: () => ({ agents: this.agents }),
    overview: () => ({
      health: this.health,
      agents: this.agents,
      sessions: this.sessions,
      questions: this.questions,
      attended: true,
      counts: {
        actions: this.log.filter((e) => e.category === "agent.action.started").length,
        questions: this.questions.length,
        errors: this.agents.filter((agent) => agent.lastAction?.ok === false).length,
      },
      last: this.log.at(-1)?.seq ?? 0,
    }),
    sessions: () => ({ sessions: this.sessions }),
    thumbnail: ({ session: id }) => {
      const session = this.sessions.find((s) => s.session === id && s.status !== "closed");
      if (!session) throw new Refusal("NOT_FOUND", "this window has no picture");
      return { image: this.draw(session), tabId: session.activeTabId ?? 1, at: this.now() };
    },
    pause_agent: ({ agent }) => this.#become(agent, "paused", "agent.paused"),
    resume_agent: ({ agent }) => this.#become(agent, "ready", "agent.resumed"),
    stop_agent: ({ agent }) => this.#become(agent, "stopped", "agent.stopped"),
    close_session: ({ session: id }) => {
      const session = this.sessions.find((s) => s.session === id);
      if (!session) throw new Refusal("NOT_FOUND", "there is no such window");
      this.#close(session);
      return {};
    },
    questions: () => ({ questions: this.questions }),
    answer_question: ({ question: id, answer }) => {
      const question = this.questions.find((q) => q.question === id);
      if (!question) return { matched: false };
      const allowed = answer.startsWith("allow");
      this.together(() => {
        if (answer.endsWith("always")) this.#setSite(question.origin, allowed ? "allow" : "block");
        this.settle(id, answer, allowed, "the person answered");
      });
      return { matched: true };
    },
    settings: () => ({ settings: this.settings }),
    change_settings: (change) => {
      this.settings = { ...this.settings, ...change };
      this.tell("setting.changed", { data: { ...change } });
      return { settings: this.settings };
    },
    sites: () => ({ sites: this.sites }),
    set_site: ({ origin, access }) => ({ site: this.#setSite(origin, access) }),
    remove_site: ({ origin }) => {
      const removed = this.sites.some((site) => site.origin === origin);
      this.sites = this.sites.filter((site) => site.origin !== origin);
      if (removed) this.tell("site.removed", { subject: origin, data: { origin } });
      return { removed };
    },
    history: ({ query = "", before = Infinity, limit = 50 }) => {
      const found = this.visits.filter((v) => v.id < before && (v.url + " " + v.title).includes(query));
      return { visits: found.slice(0, limit), more: found.length > limit };
    },
    remove_visit: ({ id }) => {
      const removed = this.visits.some((visit) => visit.id === id);
      this.visits = this.visits.filter((visit) => visit.id !== id);
      if (removed) this.tell("history.removed");
      return { removed };
    },
    clear_history: () => {
      const removed = this.visits.length;
      this.visits = [];
      this.tell("history.cleared", { data: { removed } });
      return { removed };
    },
    audit: ({ prefix = "", agent, subject, before = Infinity, limit = 200 }) => {
      const found = this.log
        .filter(
          (e) =>
            e.seq < before &&
            (!prefix || e.category === prefix || e.category.startsWith(prefix + ".")) &&
            (!agent || e.agent === agent) &&
            (!subject || e.subject === subject),
        )
        .reverse();
      return { events: found.slice(0, limit), more: found.length > limit, last: this.log.at(-1)?.seq ?? 0 };
    },
    verify_audit: () =>
      this.verification ?? {
        ok: true,
        rows: this.log.length,
        first: this.log[0]?.seq ?? 0,
        last: this.log.at(-1)?.seq ?? 0,
      },
    connect_info: () => ({
      command: "/opt/chaperone/bin/chaperone",
      snippets: [
        {
          title: "Any program",
          language: "shell",
          text: "/opt/chaperone/bin/chaperone bridge",
        },
        {
          title: "Try it by hand",
          language: "shell",
          text: `printf '%s\\n' '{"id":1,"method":"navigate","args":{"url":"https://example.org"}}' | /opt/chaperone/bin/chaperone bridge`,
        },
        {
          title: "Python",
          language: "python",
          text: 'import subprocess\nbridge = subprocess.Popen(["/opt/chaperone/bin/chaperone", "bridge"],\n    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)',
        },
      ],
    }),
    window_state: ({ focused }) => {
      this.focused = focused;
      return {};
    },
  };

  #name(): string {
    return String(++this.#names).padStart(4, "0");
  }

  #agent(name: string): Agent {
    const agent = this.agents.find((a) => a.agent === name);
    if (!agent) throw new Refusal("NOT_FOUND", `there is no agent ${name}`);
    return agent;
  }

  #become(name: string, state: Agent["state"], category: string): Record<string, never> {
    this.#agent(name).state = state;
    this.tell(category, { subject: name, agent: name });
    return {};
  }

  #close(session: Session): void {
    session.status = "closed";
    session.tabs = [];
    delete session.activeTabId;
    delete session.chromiumPid;
    this.tell("browser.session.closed", { subject: session.session, agent: session.agent });
  }

  #setSite(origin: string, access: SiteAccess): Site {
    const site = { origin, access, at: this.now() };
    this.sites = [site, ...this.sites.filter((other) => other.origin !== origin)];
    this.tell("site.changed", { subject: origin, data: { origin, access } });
    return site;
  }
}

function tab(tabId: number, url: string, title: string): Tab {
  return { tabId, url, title, status: "idle", active: true, controlled: true };
}

/** Looks like a hash and is a different one for each row; the fake's chain proves nothing. */
function fakeHash(seq: number): string {
  return Array.from({ length: 8 }, (_, i) =>
    ((Math.imul(seq * 8 + i + 1, 2654435761) >>> 0) ^ 0x5bd1e995).toString(16).replace("-", "").padStart(8, "0"),
  ).join("");
}
