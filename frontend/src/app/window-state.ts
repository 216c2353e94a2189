import { useEffect } from "react";

import { useClient } from "../api/queries";

/** Tells the host whether the person is looking, so that it knows when a notification is wanted. */
export function useWindowState(): void {
  const client = useClient();
  useEffect(() => {
    let told: boolean | undefined;
    const tell = () => {
      const focused = document.hasFocus() && document.visibilityState === "visible";
      if (focused === told) return;
      told = focused;
      client.call("window_state", { focused }).catch(() => (told = undefined));
    };
    tell();
    addEventListener("focus", tell);
    addEventListener("blur", tell);
    document.addEventListener("visibilitychange", tell);
    const off = client.pipe.onState(() => {
      told = undefined;
      tell();
    });
    return () => {
      removeEventListener("focus", tell);
      removeEventListener("blur", tell);
      document.removeEventListener("visibilitychange", tell);
      off();
    };
  }, [client]);
}
