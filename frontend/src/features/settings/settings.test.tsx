import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";

import { FakeHost } from "../../api/pipes/fake";
import { happen, openWindow } from "../../test/window";

test("agent control goes off and on, and the dashboard says so", async () => {
  const host = new FakeHost();
  const user = await openWindow(host, "settings");
  const control = await screen.findByRole("switch", { name: "Agent control" });
  expect(control).toBeChecked();
  await user.click(control);
  await waitFor(() => expect(control).not.toBeChecked());
  expect(host.settings.agentControl).toBe(false);
  expect(screen.getByText(/^Off: every action of every agent is refused/)).toBeVisible();
  await user.click(screen.getByRole("link", { name: "Dashboard" }));
  expect(await screen.findByRole("status", { name: "Health" })).toHaveTextContent("Agent control is off.");
});

test("the rule for new sites is chosen here and follows what is changed elsewhere", async () => {
  const host = new FakeHost();
  const user = await openWindow(host, "settings");
  expect(await screen.findByRole("radio", { name: /^Ask/ })).toBeChecked();
  await user.click(screen.getByRole("radio", { name: /^Block/ }));
  await waitFor(() => expect(screen.getByRole("radio", { name: /^Block/ })).toBeChecked());
  expect(host.settings.navigation).toBe("block");
  host.settings = { ...host.settings, navigation: "allow" };
  await happen(() => host.tell("setting.changed"));
  await waitFor(() => expect(screen.getByRole("radio", { name: /^Allow/ })).toBeChecked());
});

test("a change that fails is said and does not show", async () => {
  const host = new FakeHost();
  const user = await openWindow(host, "settings");
  host.failNext("change_settings", "LEDGER_UNAVAILABLE", "the record cannot be written");
  await user.click(await screen.findByRole("radio", { name: /^Allow/ }));
  expect(await screen.findByText(/The setting was not changed\. the record cannot be written/)).toBeVisible();
  expect(screen.getByRole("radio", { name: /^Ask/ })).toBeChecked();
});

test("site rules are added, changed and removed", async () => {
  const host = new FakeHost();
  const user = await openWindow(host, "settings");
  const site = await screen.findByRole("textbox", { name: "Site" });
  const add = screen.getByRole("button", { name: "Add" });
  expect(await screen.findByText(/^None yet/)).toBeVisible();
  await user.type(site, "javascript:alert(1)");
  expect(site).toBeInvalid();
  expect(add).toBeDisabled();
  await user.clear(site);
  await user.type(site, "Shop.example/a");
  expect(screen.getByText(/The rule is for https:\/\/shop\.example, exactly/)).toBeVisible();
  await user.selectOptions(screen.getByRole("combobox", { name: "Rule" }), "Block");
  await user.click(add);
  const rule = await screen.findByRole("combobox", { name: "Rule for https://shop.example" });
  expect(rule).toHaveValue("block");
  expect(site).toHaveValue("");
  await user.selectOptions(rule, "Allow");
  await waitFor(() => expect(host.sites[0]?.access).toBe("allow"));
  await user.click(screen.getByRole("button", { name: "Remove the rule for https://shop.example" }));
  expect(await screen.findByText(/^None yet/)).toBeVisible();
  expect(host.sites).toEqual([]);
});

test("an “always” of a question shows among the rules at once", async () => {
  const host = new FakeHost();
  await openWindow(host, "settings");
  const { question } = host.ask("ann", "https://pay.example/x");
  await happen(() => host.send(JSON.stringify({ id: 1, method: "answer_question", args: { question, answer: "allow_always" } })));
  expect(await screen.findByRole("combobox", { name: "Rule for https://pay.example", hidden: true })).toHaveValue("allow");
});

test("the history is searched, trimmed and cleared", async () => {
  const host = new FakeHost();
  const session = host.connect("ann");
  if (!session) throw new Error("no window");
  host.show(session, "https://shop.example/kettles", "Kettles");
  host.show(session, "https://news.example/", "News");
  const user = await openWindow(host, "settings");
  const visits = await screen.findByRole("list", { name: "Visits" });
  expect(within(visits).getAllByRole("listitem")).toHaveLength(2);
  await user.type(screen.getByRole("searchbox", { name: "Search the history" }), "kettle");
  await waitFor(() => expect(within(visits).getAllByRole("listitem")).toHaveLength(1));
  await user.clear(screen.getByRole("searchbox", { name: "Search the history" }));
  await happen(() => host.show(session, "https://late.example/", "Late"));
  await waitFor(() => expect(within(visits).getAllByRole("listitem")).toHaveLength(3));
  await user.click(within(visits).getByRole("button", { name: "Remove the visit to News" }));
  await waitFor(() => expect(within(visits).getAllByRole("listitem")).toHaveLength(2));
  await user.click(screen.getByRole("button", { name: "Clear history" }));
  await user.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Clear history" }));
  expect(await screen.findByText("No agent has opened a page yet.")).toBeVisible();
  expect(await screen.findByText("2 visits removed.")).toBeVisible();
});

test("a long history comes in pages", async () => {
  const host = new FakeHost();
  host.visits = Array.from({ length: 120 }, (_, i) => ({ id: 120 - i, at: host.now(), agent: "ann", url: `https://s.example/${i}`, title: `Page ${i}` }));
  const user = await openWindow(host, "settings");
  const visits = await screen.findByRole("list", { name: "Visits" });
  expect(within(visits).getAllByRole("listitem")).toHaveLength(51);
  await user.click(within(visits).getByRole("button", { name: "Show older visits" }));
  await waitFor(() => expect(within(visits).getAllByRole("listitem")).toHaveLength(101));
});
