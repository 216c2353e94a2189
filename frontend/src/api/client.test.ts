import { expect, test } from "vitest";

import { Client, Fault } from "./client";
import { Listeners, type Pipe, type PipeState } from "./pipe";
import { FakeHost } from "./pipes/fake";

function pipeThat(send: (line: string) => Promise<string>): Pipe & { states: Listeners<PipeState> } {
  const states = new Listeners<PipeState>();
  return { send, onEvents: () => () => {}, onState: (changed) => states.add(changed), states };
}

test("a call is one line, numbered", async () => {
  const lines: string[] = [];
  const client = new Client(
    pipeThat(async (line) => {
      lines.push(line);
      return `{"id":${(JSON.parse(line) as { id: number }).id},"ok":true,"result":{"removed":true}}`;
    }),
  );
  await client.call("settings", {});
  expect(await client.call("remove_site", { origin: "https://a.example" })).toEqual({ removed: true });
  expect(lines).toEqual([
    '{"id":1,"method":"settings","args":{}}',
    '{"id":2,"method":"remove_site","args":{"origin":"https://a.example"}}',
  ]);
});

test.each([
  ["an error", async () => '{"id":1,"ok":false,"error":{"code":"NOT_FOUND","message":"no such window","hint":"look again"}}', "NOT_FOUND", "no such window", "look again"],
  ["a lost pipe", () => Promise.reject(new Error("closed")), "PIPE_LOST", "Chaperone’s host does not answer.", "Error: closed"],
  ["what is no line", async () => "<html>", "BAD_LINE", "Chaperone’s host sent an answer that cannot be read.", undefined],
])("%s is a Fault", async (_, send, code, message, hint) => {
  const fault = await new Client(pipeThat(send)).call("overview", {}).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(Fault);
  expect(fault).toMatchObject({ code, message, hint });
});

test("an answer without a result is an empty one", async () => {
  expect(await new Client(pipeThat(async () => '{"id":1,"ok":true}')).call("clear_history", {})).toEqual({});
});

test("it knows whether the pipe is open", () => {
  const pipe = pipeThat(async () => "");
  const client = new Client(pipe);
  const heard: PipeState[] = [];
  const off = client.state.subscribe(() => heard.push(client.state.get()));
  expect(client.state.get()).toBe("open");
  pipe.states.tell("lost");
  pipe.states.tell("open");
  off();
  pipe.states.tell("lost");
  expect(heard).toEqual(["lost", "open"]);
});

test("the fake answers every method and hands out no piece of itself", async () => {
  const host = new FakeHost();
  const client = new Client(host);
  host.connect("ann");
  const { agents } = await client.call("overview", {});
  const [first] = agents;
  if (first) first.state = "stopped";
  expect((await client.call("overview", {})).agents[0]?.state).toBe("ready");
  await expect(client.call("nothing" as never, {} as never)).rejects.toMatchObject({ code: "UNKNOWN_METHOD" });
});
