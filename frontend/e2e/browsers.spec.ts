import { expect, test } from "vitest";

import { stage } from "./stage";

const on = stage();

test("the agent’s window is shown with its tabs and a live picture", async () => {
  await on.person("set_site", { origin: on.site("window").slice(0, -1), access: "allow" });
  await on.agent("navigate", { url: on.site("window") });
  await on.view("Browsers");
  const card = on.page.getByRole("region", { name: /^Window of/ }).first();
  await card.getByText(new URL(on.site("window")).host).first().waitFor();
  const picture = card.getByRole("img");
  await picture.waitFor();
  expect(await picture.getAttribute("src")).toMatch(/^data:image\/jpeg;base64,/);
  await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(100);
  const { tabId } = (await on.agent("open_new_tab", { url: on.site("window", "/second") })).result.state;
  await card.getByText("/second", { exact: true }).waitFor();
  expect(await card.getByRole("list", { name: "Tabs" }).getByRole("listitem").count()).toBe(2);
  await on.agent("close_tab", { tabId });
  await card.getByText("/second", { exact: true }).waitFor({ state: "detached" });
});

test("an agent is paused and resumed from here", async () => {
  await on.view("Browsers");
  await on.page.getByRole("button", { name: /^Pause / }).first().click();
  await on.page.getByRole("button", { name: /^Resume / }).waitFor();
  expect(await on.agent("reload")).toMatchObject({ ok: false, error: { code: "AGENT_PAUSED" } });
  await on.page.getByRole("button", { name: /^Resume / }).click();
  await on.page.getByRole("button", { name: /^Pause / }).waitFor();
  expect((await on.agent("reload")).ok).toBe(true);
});

test("a window closes after a question, and the next action opens a fresh one", async () => {
  await on.view("Browsers");
  await on.page.getByRole("button", { name: /^Close the window of/ }).click();
  await on.page.getByRole("dialog").getByRole("button", { name: "Close the window" }).click();
  await on.page.getByText("No browser window is open").waitFor();
  expect((await on.agent("navigate", { url: on.site("window") })).ok).toBe(true);
  await on.page.getByRole("region", { name: /^Window of/ }).waitFor();
});
