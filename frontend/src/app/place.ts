import { useEffect, useSyncExternalStore } from "react";

import { views, type View } from "./views";

const subscribe = (changed: () => void) => {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
};
const current = () => location.hash.replace(/^#\//, "");

/** The view that the address names after its #, and how to go to another. Ctrl+1, Ctrl+2 … go by place. */
export function usePlace(): [View, (id: string) => void] {
  const id = useSyncExternalStore(subscribe, current);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      const view = /^[1-9]$/.test(event.key) ? views[Number(event.key) - 1] : undefined;
      if (!view) return;
      event.preventDefault();
      go(view.id);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return [views.find((view) => view.id === id) ?? views[0], go];
}

function go(id: string): void {
  location.hash = `/${id}`;
}
