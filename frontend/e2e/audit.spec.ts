import { expect, test } from "vitest";

import { stage } from "./stage";

const on = stage();

test("what happens is written down live, is told apart, and proves whole", async () => {
  await on.view("Audit");
  const rows = on.page.getByRole("listbox", { name: "Rows of the log" });
  await rows.getByRole("option").first().waitFor();
  const origin = on.site("audited").slice(0, -1);
  await on.person("set_site", { origin, access: "allow" });
  await rows.getByRole("option").filter({ hasText: "Site rule set" }).first().waitFor();
  await on.agent("navigate", { url: on.site("audited") });
  await rows.getByRole("option").filter({ hasText: "navigate" }).first().waitFor();

  await on.page.getByRole("combobox", { name: "Kind" }).selectOption("Actions");
  await expect.poll(() => rows.getByRole("option").filter({ hasText: "Site rule set" }).count()).toBe(0);
  await rows.getByRole("option").filter({ hasText: "navigate" }).first().click();
  const row = on.page.getByRole("complementary", { name: "Row" });
  expect(await row.textContent()).toMatch(/agent\.action\./);
  expect(await row.textContent()).toMatch(/[0-9a-f]{64}/);

  await on.page.getByRole("button", { name: "Verify" }).click();
  await on.page.getByText(/^Whole: \d/).waitFor();
});
