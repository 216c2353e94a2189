import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";

import { FakeHost } from "../../api/pipes/fake";
import { happen, openWindow } from "../../test/window";

const list = () => screen.findByRole("listbox", { name: "Rows of the log" });

test("rows are there, newest first, and new ones come by themselves", async () => {
  const host = new FakeHost();
  host.connect("ann");
  host.act("ann", "navigate")();
  await openWindow(host, "audit");
  const rows = await list();
  expect(within(rows).getAllByRole("option")).toHaveLength(5);
  expect(within(rows).getAllByRole("option")[0]).toHaveTextContent(/annDonenavigate · tab 1/);
  const calls = host.calls.filter((call) => call.method === "audit").length;
  await happen(() => host.act("ann", "scroll")("BROWSER_GONE"));
  await waitFor(() => expect(within(rows).getAllByRole("option")).toHaveLength(7));
  expect(within(rows).getAllByRole("option")[0]).toHaveTextContent(/annFailedscroll · tab 1 · BROWSER_GONE/);
  expect(host.calls.filter((call) => call.method === "audit")).toHaveLength(calls);
});

test("rows are chosen by kind and agent, those that come in too", async () => {
  const host = new FakeHost();
  host.connect("ann");
  host.connect("bob");
  const user = await openWindow(host, "audit");
  await list();
  await user.selectOptions(screen.getByRole("combobox", { name: "Kind" }), "Actions");
  expect(await screen.findByText("Nothing of this kind happened yet")).toBeVisible();
  await happen(() => {
    host.act("ann", "navigate");
    host.act("bob", "reload");
    host.tell("setting.changed");
  });
  await waitFor(async () => expect(within(await list()).getAllByRole("option")).toHaveLength(2));
  await user.selectOptions(screen.getByRole("combobox", { name: "Agent" }), "bob");
  await waitFor(async () => expect(within(await list()).getAllByRole("option")).toHaveLength(1));
  expect(within(await list()).getByRole("option")).toHaveTextContent("reload");
});

test("a row opens whole, by mouse and by keyboard", async () => {
  const host = new FakeHost();
  host.tell("setting.changed", { data: { navigation: "block" }, subject: "navigation", call: "call_9" });
  const user = await openWindow(host, "audit");
  await user.click(within(await list()).getAllByRole("option")[0]!);
  const row = screen.getByRole("complementary", { name: "Row" });
  expect(row).toHaveTextContent("setting.changed");
  expect(row).toHaveTextContent("call_9");
  expect(row).toHaveTextContent(host.log.at(-1)!.hash);
  expect(within(row).getByLabelText("Particulars")).toHaveTextContent('"navigation": "block"');
  (await list()).focus();
  await user.keyboard("{ArrowDown}");
  expect(row).toHaveTextContent("host.started");
  await user.click(within(row).getByRole("button", { name: "Close the row" }));
  expect(screen.queryByRole("complementary", { name: "Row" })).toBeNull();
});

test("of a long log only what is in sight is drawn, and older rows are fetched", async () => {
  const host = new FakeHost();
  host.together(() => {
    for (let i = 0; i < 3_000; i++) host.tell("policy.decided", { data: { origin: `https://s${i}.example` } });
  });
  await openWindow(host, "audit");
  const rows = await list();
  expect(within(rows).getAllByRole("option").length).toBeLessThan(60);
  rows.scrollTop = 190 * 32;
  await happen(() => rows.dispatchEvent(new Event("scroll")));
  await waitFor(() => expect(host.calls.filter((c) => c.method === "audit").map((c) => c.args)).toContainEqual({ limit: 200, before: 2802 }));
});

test("a storm of rows is drawn a frame at a time", async () => {
  const host = new FakeHost();
  await openWindow(host, "audit");
  const rows = await list();
  const before = Date.now();
  await happen(() => {
    for (let i = 0; i < 10_000; i++) host.tell("policy.decided");
  });
  await waitFor(() => expect(within(rows).getAllByRole("option")[0]).toHaveTextContent("10001"));
  expect(Date.now() - before).toBeLessThan(10_000);
});

test.each([
  [undefined, "Whole: 2 rows, 1 to 2"],
  [{ ok: false, rows: 2, first: 1, last: 2, brokenAt: 2, why: "the hash does not fit" }, "Not whole from row 2: the hash does not fit"],
])("the log is verified: %o", async (verification, words) => {
  const host = new FakeHost();
  host.tell("setting.changed");
  host.verification = verification;
  const user = await openWindow(host, "audit");
  await user.click(await screen.findByRole("button", { name: "Verify" }));
  expect(await screen.findByText(words)).toBeVisible();
});
