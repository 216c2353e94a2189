import type { Event } from "./types";

/** Whether the other end is there. */
export type PipeState = "open" | "lost";

/**
 * A Pipe carries lines to the host and events back. It knows no methods.
 * Each `on…` returns the function that ends the subscription.
 */
export interface Pipe {
  /** Sends one request line; resolves to its answer line, rejects when the other end is not there. */
  send(line: string): Promise<string>;
  /** Calls back with events in batches, oldest first. */
  onEvents(heard: (events: Event[]) => void): () => void;
  /** Calls back when the other end goes or comes back. */
  onState(changed: (state: PipeState) => void): () => void;
}

/** Listeners keeps who wants to hear, for the pipes. */
export class Listeners<T> {
  #all = new Set<(value: T) => void>();

  add(listener: (value: T) => void): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  tell(value: T): void {
    for (const listener of [...this.#all]) listener(value);
  }
}
