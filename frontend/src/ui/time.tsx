import { createContext, useContext, useEffect, useState, type ReactNode } from "react";

import { ago, duration, exact } from "../lib/time";

const Now = createContext(new Date());

/** Moves the time that everything below it shows: once a second, while anyone can see it. */
export function Clock({ children }: { children: ReactNode }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === "visible") setNow(new Date());
    };
    const timer = setInterval(tick, 1_000);
    document.addEventListener("visibilitychange", tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  }, []);
  return <Now value={now}>{children}</Now>;
}

/** How long ago it was; the exact time on pointing at it. */
export function Ago({ at }: { at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact(date)}>
      {ago(date, useContext(Now))}
    </time>
  );
}

/** How long it has been going on. */
export function Since({ at }: { at: string }) {
  const ms = useContext(Now).getTime() - new Date(at).getTime();
  return <>{ms < 1_000 ? "a moment" : duration(Math.floor(ms / 1_000) * 1_000).replace(/\.0 s$/, " s")}</>;
}
