import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { FakeHost } from "../../api/pipes/fake";
import { happen, openWindow } from "../../test/window";
import { choiceOf, graceMs } from "./answers";

let host: FakeHost;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  host = new FakeHost();
  host.connect("shopper");
});
afterEach(() => vi.useRealTimers());

const dialog = () => screen.findByRole("alertdialog");
const noDialog = () => waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
const graceOver = () => vi.setSystemTime(Date.now() + graceMs);
const answers = () => host.calls.filter((call) => call.method === "answer_question").map((call) => call.args);

test("a question comes up over any view, says what it is about, and has the focus on the safe answer", async () => {
  await openWindow(host, "settings");
  expect(screen.queryByRole("alertdialog")).toBeNull();
  await happen(() =>
    host.ask("shopper", "https://user@pay.example/confirm?cart=4411", {
      via: "page",
      fromOrigin: "https://shop.example",
      fromTitle: "Checkout \u202egnihton",
      httpMethod: "POST",
      hasBody: true,
      risk: "high",
      notes: ["A form is sent to another site."],
    }),
  );
  const box = await dialog();
  expect(box).toHaveAccessibleName("Open pay.example?");
  expect(box).toHaveTextContent("shopper");
  expect(box).toHaveTextContent("https://user@pay.example/confirm?cart=4411");
  expect(box).toHaveTextContent("POST");
  expect(box).toHaveTextContent("shop.example");
  expect(box).toHaveTextContent("Checkout \ufffdgnihton");
  expect(within(box).getByRole("list", { name: "Worth knowing" })).toHaveTextContent("A form is sent to another site.");
  expect(within(box).queryByText(/of \d/)).toBeNull();
  expect(within(box).getByRole("button", { name: "Block once" })).toHaveFocus();
});

test.each([
  ["a", "allow_once", true, []],
  ["{Shift>}a{/Shift}", "allow_always", true, [{ origin: "https://pay.example", access: "allow" }]],
  ["b", "block_once", false, []],
  ["{Shift>}b{/Shift}", "block_always", false, [{ origin: "https://pay.example", access: "block" }]],
  ["{Enter}", "block_once", false, []],
])("the key %s answers %s", async (key, answer, allowed, sites) => {
  const user = await openWindow(host);
  const { question } = await happen(() => host.ask("shopper", "https://pay.example/"));
  await dialog();
  graceOver();
  await user.keyboard(key);
  await noDialog();
  expect(answers()).toEqual([{ question, answer }]);
  expect(host.log.at(-1)).toMatchObject({ category: "approval.settled", subject: question, data: { answer, allowed } });
  expect(host.sites.map(({ origin, access }) => ({ origin, access }))).toEqual(sites);
});

test.each(["Allow once", "Always allow", "Block once", "Always block"])("the button “%s” answers", async (name) => {
  const user = await openWindow(host);
  await happen(() => host.ask("shopper", "https://pay.example/"));
  const box = await dialog();
  graceOver();
  await user.click(within(box).getByRole("button", { name }));
  await noDialog();
  expect(answers()).toHaveLength(1);
});

test("what was being typed when the question came up decides nothing", async () => {
  const user = await openWindow(host);
  await happen(() => host.ask("shopper", "https://pay.example/"));
  const box = await dialog();
  vi.setSystemTime(Date.now() + graceMs - 1);
  await user.keyboard("a{Enter}");
  await user.click(within(box).getByRole("button", { name: "Allow once" }));
  expect(answers()).toEqual([]);
  vi.setSystemTime(Date.now() + 1);
  await user.keyboard("a");
  await noDialog();
});

test("what was being typed when the window got the focus decides nothing; a click does", async () => {
  const user = await openWindow(host);
  await happen(() => host.ask("shopper", "https://pay.example/"));
  const box = await dialog();
  graceOver();
  await happen(() => window.dispatchEvent(new Event("focus")));
  await user.keyboard("a{Enter}");
  expect(answers()).toEqual([]);
  await user.click(within(box).getByRole("button", { name: "Allow once" }));
  await noDialog();
  expect(answers()).toHaveLength(1);
});

test("a key that is held down, or goes with Ctrl, means no answer", () => {
  const key = (init: KeyboardEventInit) => choiceOf(new KeyboardEvent("keydown", init))?.answer;
  expect(key({ key: "a" })).toBe("allow_once");
  expect(key({ key: "A", shiftKey: true })).toBe("allow_always");
  expect(key({ key: "A" })).toBe("allow_once"); // caps lock
  expect(key({ key: "ф", code: "KeyA" })).toBe("allow_once"); // the same place on a Russian layout
  expect(key({ key: "a", repeat: true })).toBeUndefined();
  expect(key({ key: "a", ctrlKey: true })).toBeUndefined();
  expect(key({ key: "b", altKey: true })).toBeUndefined();
  expect(key({ key: "b", metaKey: true })).toBeUndefined();
  expect(key({ key: "c" })).toBeUndefined();
  expect(key({ key: "Enter", code: "Enter" })).toBeUndefined();
});

test("Enter that is held since before presses no button", async () => {
  await openWindow(host);
  await happen(() => host.ask("shopper", "https://pay.example/"));
  await dialog();
  const held = new KeyboardEvent("keydown", { key: "Enter", repeat: true, bubbles: true, cancelable: true });
  fireEvent(document.activeElement ?? document.body, held);
  expect(held.defaultPrevented).toBe(true);
});

test("several questions are counted, and each has a grace of its own", async () => {
  const user = await openWindow(host);
  await happen(() => {
    host.ask("shopper", "https://one.example/");
    host.ask("shopper", "https://two.example/");
    host.ask("shopper", "https://three.example/");
  });
  expect(await dialog()).toHaveTextContent("1 of 3");
  graceOver();
  await user.keyboard("a");
  await waitFor(() => expect(screen.getByRole("alertdialog")).toHaveAccessibleName("Open two.example?"));
  expect(await dialog()).toHaveTextContent("2 of 3");
  expect(within(await dialog()).getByRole("button", { name: "Block once" })).toHaveFocus();
  await user.keyboard("a"); // the same key once too often
  expect(answers()).toHaveLength(1);
  graceOver();
  await user.keyboard("b");
  await waitFor(() => expect(screen.getByRole("alertdialog")).toHaveAccessibleName("Open three.example?"));
  expect(await dialog()).toHaveTextContent("3 of 3");
  graceOver();
  await user.keyboard("b");
  await noDialog();
  expect(host.log.filter((e) => e.category === "approval.settled").map((e) => (e.data as { answer: string }).answer)).toEqual([
    "allow_once",
    "block_once",
    "block_once",
  ]);
});

test("Escape puts it aside without an answer, with a way back; a new question comes up again", async () => {
  const user = await openWindow(host, "audit");
  await happen(() => host.ask("shopper", "https://one.example/"));
  await dialog();
  await user.keyboard("{Escape}");
  await noDialog();
  expect(answers()).toEqual([]);
  expect(host.questions).toHaveLength(1);

  await user.click(screen.getByRole("button", { name: "1 question waits" }));
  expect(await dialog()).toHaveAccessibleName("Open one.example?");
  await user.click(screen.getByRole("button", { name: /Later/ }));
  await noDialog();

  await happen(() => host.ask("shopper", "https://two.example/"));
  expect(await dialog()).toHaveAccessibleName("Open two.example?");
  expect(await dialog()).not.toHaveTextContent("of 2");
});

test("a click beside the dialog is nothing", async () => {
  await openWindow(host);
  await happen(() => host.ask("shopper", "https://one.example/"));
  await dialog();
  graceOver();
  fireEvent.pointerDown(document.body);
  fireEvent.click(document.body);
  expect(await dialog()).toBeVisible();
  expect(answers()).toEqual([]);
});

test("the view’s own wish opens that very question", async () => {
  const user = await openWindow(host);
  await happen(() => {
    host.ask("shopper", "https://one.example/");
    host.ask("shopper", "https://two.example/");
  });
  await dialog();
  await user.keyboard("{Escape}");
  await noDialog();
  const waiting = screen.getByRole("region", { name: "Waiting questions" });
  await user.click(within(waiting).getAllByRole("button", { name: "Decide" })[1]!);
  expect(await dialog()).toHaveAccessibleName("Open two.example?");
});

test("a question that is settled elsewhere closes by itself", async () => {
  await openWindow(host);
  await happen(() => host.ask("shopper", "https://one.example/"));
  await dialog();
  await happen(() => host.disconnect("shopper"));
  await noDialog();
  expect(answers()).toEqual([]);
});

test("an answer that comes too late says so", async () => {
  const user = await openWindow(host);
  const { question } = await happen(() => host.ask("shopper", "https://one.example/"));
  await dialog();
  graceOver();
  // It is settled, but the interface has not heard of it yet.
  host.questions = host.questions.filter((q) => q.question !== question);
  await user.keyboard("a");
  await noDialog();
  expect(await screen.findByText("The question about one.example was settled before your answer.")).toBeVisible();
});

test("an answer that fails keeps the question, says why, and can be given again", async () => {
  const user = await openWindow(host);
  await happen(() => host.ask("shopper", "https://one.example/"));
  await dialog();
  graceOver();
  host.failNext("answer_question", "LEDGER_UNAVAILABLE", "the record cannot be written", "Free some disk space.");
  await user.keyboard("a");
  const alert = await within(await dialog()).findByRole("alert");
  expect(alert).toHaveTextContent("the record cannot be written");
  expect(alert).toHaveTextContent("Free some disk space.");
  await user.keyboard("a");
  await noDialog();
  expect(answers()).toHaveLength(2);
});

test("the focus goes back to where it was", async () => {
  const user = await openWindow(host, "settings");
  const site = await screen.findByRole("textbox", { name: "Site" });
  await user.click(site);
  await happen(() => host.ask("shopper", "https://one.example/"));
  await dialog();
  graceOver();
  await user.keyboard("b");
  await noDialog();
  await waitFor(() => expect(site).toHaveFocus());
});
