import { Listeners, type Pipe, type PipeState } from "../pipe";
import type { Event } from "../types";

const firstRetry = 250;
const longestRetry = 4_000;

/** The pipe over HTTP: lines by POST, events as a server-sent stream that is opened again whenever it breaks. */
export function httpPipe(base = ""): Pipe {
  const events = new Listeners<Event[]>();
  const states = new Listeners<PipeState>();
  let state: PipeState = "open";
  let retry = firstRetry;

  const become = (next: PipeState) => {
    if (next === state) return;
    state = next;
    states.tell(next);
  };

  const listen = () => {
    const stream = new EventSource(`${base}/events`);
    stream.onopen = () => {
      retry = firstRetry;
      become("open");
    };
    stream.onmessage = (message: MessageEvent<string>) => events.tell(JSON.parse(message.data) as Event[]);
    stream.onerror = () => {
      stream.close();
      become("lost");
      setTimeout(listen, retry);
      retry = Math.min(retry * 2, longestRetry);
    };
  };
  listen();

  return {
    async send(line) {
      const answer = await fetch(`${base}/line`, { method: "POST", body: line });
      if (!answer.ok) throw new Error(`the host answered ${answer.status}`);
      return answer.text();
    },
    onEvents: (heard) => events.add(heard),
    onState: (changed) => states.add(changed),
  };
}
