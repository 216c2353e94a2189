import { expect, test } from "vitest";

import { stage } from "./stage";

const on = stage();

test("the rule for new sites counts at once", async () => {
  await on.view("Settings");
  await on.page.getByText("Agents open only sites that you allowed.").click();
  await expect.poll(async () => (await on.person("settings")).result.settings.navigation).toBe("block");
  expect(await on.agent("navigate", { url: on.site("blocked") })).toMatchObject({
    ok: false,
    error: { code: "BROWSER_POLICY_DENIED" },
  });
  await on.page.getByText("Agents open any site that has no rule against it.").click();
  await expect.poll(async () => (await on.person("settings")).result.settings.navigation).toBe("allow");
  expect((await on.agent("navigate", { url: on.site("allowed") })).ok).toBe(true);
  await on.page.getByText("You are asked about each site that has no rule yet.").click();
  await expect.poll(async () => (await on.person("settings")).result.settings.navigation).toBe("ask");
});

test("agent control off refuses every action", async () => {
  await on.view("Settings");
  const control = on.page.getByRole("switch", { name: "Agent control" });
  await control.click();
  await expect.poll(() => control.getAttribute("aria-checked")).toBe("false");
  expect(await on.agent("navigate", { url: on.site("allowed") })).toMatchObject({ ok: false, error: { code: "BROWSER_DISABLED" } });
  await on.view("Dashboard");
  await on.page.getByText("Agent control is off.").waitFor();
  await on.view("Settings");
  await on.page.getByRole("switch", { name: "Agent control" }).click();
  await expect.poll(async () => (await on.person("settings")).result.settings.agentControl).toBe(true);
});

test("what is changed elsewhere shows by itself", async () => {
  await on.view("Settings");
  const origin = on.site("elsewhere").slice(0, -1);
  await on.person("set_site", { origin, access: "block" });
  const rule = on.page.getByRole("combobox", { name: `Rule for ${origin}` });
  await rule.waitFor();
  expect(await rule.inputValue()).toBe("block");
  await on.page.getByRole("button", { name: `Remove the rule for ${origin}` }).click();
  await rule.waitFor({ state: "detached" });
});

test("visits are listed and can be removed", async () => {
  await on.person("set_site", { origin: on.site("visited").slice(0, -1), access: "allow" });
  await on.view("Settings");
  await on.agent("navigate", { url: on.site("visited", "/here") });
  const visits = on.page.getByRole("list", { name: "Visits" });
  const visit = visits.getByRole("listitem").filter({ hasText: "/here" }).first();
  await visit.waitFor();
  await visit.getByRole("button", { name: /^Remove the visit/ }).click();
  await visit.waitFor({ state: "detached" });
});
