import type { Pipe, PipeState } from "./pipe";
import type { Method, Methods } from "./types";

/** A Fault is an error that the host answered, or the loss of the pipe (code PIPE_LOST). */
export class Fault extends Error {
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, hint?: string) {
    super(message);
    this.name = "Fault";
    this.code = code;
    this.hint = hint;
  }
}

type AnswerLine = { ok: true; result?: unknown } | { ok: false; error: { code: string; message: string; hint?: string } };

/** A Client turns method calls into lines, and answer lines into results or Faults. */
export class Client {
  readonly pipe: Pipe;
  /** Whether the host is there, as a store for React. */
  readonly state: { get(): PipeState; subscribe(changed: () => void): () => void };
  #next = 1;

  constructor(pipe: Pipe) {
    this.pipe = pipe;
    let state: PipeState = "open";
    pipe.onState((next) => {
      state = next;
    });
    this.state = { get: () => state, subscribe: (changed) => pipe.onState(changed) };
  }

  async call<M extends Method>(method: M, args: Methods[M]["args"]): Promise<Methods[M]["result"]> {
    let line: string;
    try {
      line = await this.pipe.send(JSON.stringify({ id: this.#next++, method, args }));
    } catch (cause) {
      throw new Fault("PIPE_LOST", "Chaperone’s host does not answer.", String(cause));
    }
    let answer: AnswerLine;
    try {
      answer = JSON.parse(line) as AnswerLine;
    } catch {
      throw new Fault("BAD_LINE", "Chaperone’s host sent an answer that cannot be read.");
    }
    if (answer.ok) return (answer.result ?? {}) as Methods[M]["result"];
    throw new Fault(answer.error.code, answer.error.message, answer.error.hint);
  }
}
