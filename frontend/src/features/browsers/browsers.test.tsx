import { act, screen, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { FakeHost } from "../../api/pipes/fake";
import { happen, openWindow } from "../../test/window";

afterEach(() => vi.useRealTimers());

test("with no window it says when one opens", async () => {
  await openWindow(new FakeHost(), "browsers");
  expect(await screen.findByText("No browser window is open")).toBeVisible();
});

test("a window with its tabs, picture and process comes up and follows", async () => {
  const host = new FakeHost();
  await openWindow(host, "browsers");
  const session = await happen(() => host.connect("ann"));
  if (!session) throw new Error("no window");
  await happen(() => host.show(session, "https://shop.example/kettles", "Kettles \u202e"));
  const card = await screen.findByRole("region", { name: "Window of ann" });
  expect(await within(card).findByText("Kettles \ufffd")).toBeVisible();
  expect(card).toHaveTextContent("https://shop.example/kettles");
  expect(card).toHaveTextContent("Ready");
  expect(card).toHaveTextContent("Process 4200");
  const picture = await within(card).findByRole("img", { name: "The window shows Kettles \ufffd" });
  expect(picture).toHaveAttribute("src", expect.stringMatching(/^data:image\/jpeg;base64,\/9j\//));

  const tab = session.tabs[0];
  if (!tab) throw new Error("no tab");
  tab.status = "loading";
  tab.dialog = { type: "alert", message: "Sure?" };
  await happen(() => host.tell("browser.dialog.opened", { subject: session.session }));
  expect(await within(card).findByText("Dialog open")).toHaveAttribute("title", "Sure?");
  expect(within(card).getByLabelText("Loading")).toBeVisible();

  session.status = "crashed";
  session.error = "Chromium ended with status 139.";
  await happen(() => host.tell("browser.session.crashed", { subject: session.session }));
  expect(await within(card).findByText("Chromium ended with status 139.")).toBeVisible();
  expect(card).toHaveTextContent("Crashed");
  expect(within(card).getByLabelText("There is no picture now")).toBeVisible();
});

test("the picture is asked for again and again, and no longer when the view is left", async () => {
  // The refetching alone goes by the test's time.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const host = new FakeHost();
  host.connect("ann");
  const user = await openWindow(host, "browsers");
  const asked = () => host.calls.filter((call) => call.method === "thumbnail").length;
  await screen.findByRole("img");
  expect(asked()).toBe(1);
  await act(() => vi.advanceTimersByTimeAsync(3_000));
  expect(asked()).toBeGreaterThanOrEqual(4);
  await user.click(screen.getByRole("link", { name: "Settings" }));
  await screen.findByRole("switch", { name: "Agent control" });
  const before = asked();
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  expect(asked()).toBe(before);
});

test("a window closes only after a question", async () => {
  const host = new FakeHost();
  host.connect("ann");
  const user = await openWindow(host, "browsers");
  await user.click(await screen.findByRole("button", { name: "Close the window of ann" }));
  await user.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Cancel" }));
  expect(host.sessions[0]?.status).toBe("ready");
  await user.click(await screen.findByRole("button", { name: "Close the window of ann" }));
  await user.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Close the window" }));
  expect(await screen.findByText("No browser window is open")).toBeVisible();
  expect(screen.getByText(/^1 window is closed/)).toBeVisible();
});

test("a tab that waits leads to its question", async () => {
  const host = new FakeHost();
  host.connect("ann");
  const user = await openWindow(host, "browsers");
  await happen(() => host.ask("ann", "https://pay.example/"));
  await screen.findByRole("alertdialog");
  await user.keyboard("{Escape}");
  await user.click(await screen.findByRole("button", { name: "Waits for you: pay.example" }));
  expect(await screen.findByRole("alertdialog")).toHaveAccessibleName("Open pay.example?");
});
