import type { Pipe } from "../pipe";
import { httpPipe } from "./http";
import { wailsPipe } from "./wails";

/**
 * The pipe for where the page is: the desktop window, or a browser. While
 * working on the interface it is a fake with a scene (?scene=question) unless
 * ?pipe=http; a build that is shipped has no fake in it.
 */
export async function choosePipe(): Promise<Pipe> {
  const wails = wailsPipe();
  if (wails) return wails;
  if (import.meta.env.MODE !== "production") {
    const wanted = new URLSearchParams(location.search);
    if (wanted.get("pipe") !== "http") {
      const { scene } = await import("./scenes");
      return scene(wanted.get("scene") ?? "busy");
    }
  }
  return httpPipe();
}
