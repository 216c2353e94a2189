import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";

import { FakeHost } from "../../api/pipes/fake";
import { happen, openWindow } from "../../test/window";

const health = () => screen.findByRole("status", { name: "Health" });

test("with nobody there, it shows how to connect an agent", async () => {
  const host = new FakeHost();
  const user = await openWindow(host);
  expect(await health()).toHaveTextContent("All is well. No agent is connected.");
  const card = screen.getByRole("region", { name: "Connect an agent" });
  expect(card).toHaveTextContent("No agent is connected yet");
  expect(await within(card).findByRole("tabpanel")).toHaveTextContent("/opt/chaperone/bin/chaperone bridge");
  await user.click(within(card).getByRole("tab", { name: "Python" }));
  expect(within(card).getByRole("tabpanel")).toHaveTextContent("import subprocess");
  await user.keyboard("{ArrowRight}");
  expect(within(card).getByRole("tab", { name: "Any program" })).toHaveFocus();
  await user.keyboard("{ArrowLeft}");
  await user.click(within(card).getByRole("button", { name: "Copy Python" }));
  expect(await navigator.clipboard.readText()).toContain("import subprocess");
  expect(await within(card).findByText("Copied")).toBeVisible();
});

test("agents come, act, fail and go while one looks", async () => {
  const host = new FakeHost();
  await openWindow(host);
  await health();
  await happen(() => host.connect("ann"));
  const row = await screen.findByRole("listitem", { name: "ann" });
  expect(row).toHaveTextContent("has done nothing yet");
  expect(await health()).toHaveTextContent("1 agent connected");

  const end = await happen(() => host.act("ann", "click_element", 3));
  await waitFor(() => expect(row).toHaveTextContent("Clicking in tab 3 for a moment"));
  await happen(() => end("BROWSER_TIMEOUT"));
  await waitFor(() => expect(row).toHaveTextContent("Failed: clicking, just now · BROWSER_TIMEOUT"));
  expect(row).toHaveTextContent("1 action");

  await happen(() => host.disconnect("ann"));
  await waitFor(() => expect(screen.queryByRole("listitem", { name: "ann" })).toBeNull());
  expect(screen.getByText("No agent is connected yet")).toBeVisible();
});

test("an agent is paused, resumed, and stopped after a question", async () => {
  const host = new FakeHost();
  host.connect("ann");
  const user = await openWindow(host);
  await user.click(await screen.findByRole("button", { name: "Pause ann" }));
  expect(await screen.findByText("Paused")).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Resume ann" }));
  await waitFor(() => expect(screen.queryByText("Paused")).toBeNull());

  await user.click(screen.getByRole("button", { name: "Stop ann" }));
  const dialog = await screen.findByRole("dialog", { name: "Stop ann?" });
  expect(within(dialog).getByRole("button", { name: "Cancel" })).toHaveFocus();
  expect(host.agents[0]?.state).toBe("ready");
  await user.click(within(dialog).getByRole("button", { name: "Stop" }));
  expect(await screen.findByText("Stopped")).toBeVisible();
});

test("what could not be done is said, with the hint", async () => {
  const host = new FakeHost();
  host.connect("ann");
  const user = await openWindow(host);
  host.failNext("pause_agent", "NOT_FOUND", "there is no agent ann", "It left a moment ago.");
  await user.click(await screen.findByRole("button", { name: "Pause ann" }));
  const messages = screen.getByRole("log", { name: "Messages" });
  await waitFor(() => expect(messages).toHaveTextContent("ann was not paused. there is no agent ann"));
  expect(messages).toHaveTextContent("It left a moment ago.");
  await user.click(within(messages).getByRole("button", { name: "Dismiss" }));
  expect(messages).toBeEmptyDOMElement();
});

test("the worst is said first", async () => {
  const host = new FakeHost();
  host.health.status = "down";
  host.health.chromium = { error: "Chromium was not found. Install it." };
  await openWindow(host);
  expect(await health()).toHaveTextContent("Chromium cannot be used. Chromium was not found. Install it.");
});

test("an error while loading can be tried again", async () => {
  const host = new FakeHost();
  host.failNext("overview", "INTERNAL", "something broke");
  const user = await openWindow(host);
  expect(await screen.findByRole("alert")).toHaveTextContent("something broke");
  await user.click(screen.getByRole("button", { name: "Try again" }));
  expect(await health()).toHaveTextContent("All is well");
});
