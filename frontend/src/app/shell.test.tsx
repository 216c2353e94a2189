import { render, screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import { Client } from "../api/client";
import { FakeHost } from "../api/pipes/fake";
import { happen, openWindow } from "../test/window";
import { Root } from "./root";
import { views } from "./views";

test("every view opens by its link and by its key", async () => {
  const user = await openWindow(new FakeHost());
  for (const [i, view] of views.entries()) {
    await user.click(screen.getByRole("link", { name: view.title }));
    expect(await screen.findByRole("heading", { level: 1, name: view.title })).toBeVisible();
    expect(screen.getByRole("link", { name: view.title })).toHaveAttribute("aria-current", "page");
    await user.keyboard(`{Control>}${((i + 1) % views.length) + 1}{/Control}`);
    const next = views[(i + 1) % views.length];
    expect(await screen.findByRole("heading", { level: 1, name: next?.title ?? "" })).toBeVisible();
  }
});

test("an unknown place is the first view", async () => {
  await openWindow(new FakeHost(), "nowhere");
  expect(screen.getByRole("heading", { level: 1, name: "Dashboard" })).toBeVisible();
});

test("a lost pipe is said calmly, and what was missed is caught up with", async () => {
  const host = new FakeHost();
  await openWindow(host);
  await screen.findByRole("status", { name: "Health" });
  await happen(() => host.lose());
  expect(screen.getByText("The connection to the host is lost.")).toBeVisible();
  await happen(() => host.connect("ann")); // nobody hears of it
  expect(screen.queryByRole("listitem", { name: "ann" })).toBeNull();
  await happen(() => host.restore());
  expect(screen.queryByText("The connection to the host is lost.")).toBeNull();
  expect(await screen.findByRole("listitem", { name: "ann" })).toBeVisible();
});

test("the host is told whether the person looks", async () => {
  const host = new FakeHost();
  const focus = vi.spyOn(document, "hasFocus").mockReturnValue(true);
  await openWindow(host);
  await waitFor(() => expect(host.focused).toBe(true));
  focus.mockReturnValue(false);
  await happen(() => window.dispatchEvent(new Event("blur")));
  await waitFor(() => expect(host.focused).toBe(false));
});

test("what breaks while drawing is shown", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const host = new FakeHost();
  host.health.tiers = undefined as never; // an answer of another form than agreed
  render(<Root client={new Client(host)} />);
  expect(await screen.findByRole("alert")).toHaveTextContent("The window could not be drawn");
});

test("names of any length and kind keep to themselves", async () => {
  const host = new FakeHost();
  const name = "x".repeat(400) + "\u202e<script>alert(1)</script>";
  host.connect(name);
  await openWindow(host);
  expect(await screen.findByText(name.replace("\u202e", "\ufffd"))).toHaveAttribute("title", name);
});
