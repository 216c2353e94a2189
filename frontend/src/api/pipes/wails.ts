import type { Pipe } from "../pipe";
import type { Event } from "../types";

/** What Wails puts into the page of its window, as far as it is used here. */
interface WailsWindow {
  go?: { main?: { App?: { Send(line: string): Promise<string> } } };
  runtime?: {
    EventsOn(name: string, heard: (json: string) => void): () => void;
    WindowSetBackgroundColour(r: number, g: number, b: number, a: number): void;
  };
}

/** The pipe of the desktop app, or undefined when the page is not in its window. */
export function wailsPipe(): Pipe | undefined {
  const { go, runtime } = window as unknown as WailsWindow;
  const app = go?.main?.App;
  if (!app || !runtime) return undefined;

  // The frame behind the page shows while the window is resized.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () =>
    dark.matches
      ? runtime.WindowSetBackgroundColour(0x14, 0x15, 0x18, 255)
      : runtime.WindowSetBackgroundColour(0xf6, 0xf6, 0xf4, 255);
  dark.addEventListener("change", paint);
  paint();

  return {
    send: (line) => app.Send(line),
    onEvents: (heard) => runtime.EventsOn("events", (json) => heard(JSON.parse(json) as Event[])),
    // The host lives in the same process: it is there as long as the window is.
    onState: () => () => {},
  };
}
