import { expect, test } from "vitest";

import { stage } from "./stage";

const on = stage();

test("a question comes up when the agent opens a site, and the keyboard lets it go on", async () => {
  const answer = on.agent("navigate", { url: on.site("one", "/start?q=1") });
  await on.question("one");
  const dialog = on.page.getByRole("alertdialog");
  expect(await dialog.textContent()).toContain("/start?q=1");
  expect(await dialog.getByRole("button", { name: "Block once" }).evaluate((b) => b === document.activeElement)).toBe(true);
  await on.page.keyboard.press("a");
  await dialog.waitFor({ state: "detached" });
  expect(await answer).toMatchObject({ ok: true, result: { action: { success: true }, state: { url: on.site("one", "/start?q=1") } } });
});

test("while it waits, reads of the tab answer at once", async () => {
  const answer = on.agent("navigate", { url: on.site("two") });
  await on.question("two");
  const state = await on.agent("get_browser_state");
  expect(state.result.state.pendingApproval).toMatchObject({ origin: on.site("two").slice(0, -1) });
  await on.page.keyboard.press("b");
  expect(await answer).toMatchObject({ ok: false, error: { code: "BROWSER_POLICY_DENIED" } });
});

test("Enter blocks: the focus starts on the safe answer", async () => {
  const answer = on.agent("navigate", { url: on.site("three") });
  await on.question("three");
  await on.page.keyboard.press("Enter");
  expect(await answer).toMatchObject({ ok: false, error: { code: "BROWSER_POLICY_DENIED" } });
});

test("always is a rule: the same site is not asked about again", async () => {
  const first = on.agent("navigate", { url: on.site("four") });
  await on.question("four");
  await on.page.keyboard.press("Shift+A");
  expect((await first).ok).toBe(true);
  await on.agent("navigate", { url: "about:blank" });
  expect((await on.agent("navigate", { url: on.site("four", "/again") })).ok).toBe(true);
  await on.view("Settings");
  const rule = on.page.getByRole("combobox", { name: `Rule for ${on.site("four").slice(0, -1)}` });
  expect(await rule.inputValue()).toBe("allow");
});

test("put aside, it is found again, and the mouse answers", async () => {
  const answer = on.agent("navigate", { url: on.site("five") });
  await on.question("five");
  await on.page.keyboard.press("Escape");
  await on.page.getByRole("alertdialog").waitFor({ state: "detached" });
  await on.page.getByRole("button", { name: "1 question waits" }).click();
  await on.question("five");
  await on.page.getByRole("button", { name: "Allow once" }).click();
  expect((await answer).ok).toBe(true);
});

test("a question that a rule answers meanwhile goes by itself", async () => {
  const answer = on.agent("navigate", { url: on.site("six") });
  await on.question("six");
  await on.person("set_site", { origin: on.site("six").slice(0, -1), access: "block" });
  await on.page.getByRole("alertdialog").waitFor({ state: "detached" });
  expect(await answer).toMatchObject({ ok: false, error: { code: "BROWSER_POLICY_DENIED" } });
});
