import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { Client } from "../api/client";
import type { FakeHost } from "../api/pipes/fake";
import { Root } from "../app/root";

/** Opens the whole interface on a fake host, in a view, and waits until it is drawn. */
export async function openWindow(host: FakeHost, view = "dashboard") {
  location.hash = `/${view}`;
  const user = userEvent.setup();
  render(<Root client={new Client(host)} />);
  await screen.findByRole("heading", { level: 1, hidden: true });
  return user;
}

/** Lets something happen at the host, and the interface hear of it. */
export async function happen<T>(what: () => T): Promise<T> {
  let result!: T;
  await act(async () => {
    result = what();
  });
  return result;
}
