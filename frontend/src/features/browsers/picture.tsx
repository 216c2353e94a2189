import { ImageOff } from "lucide-react";
import { useEffect, useRef, useState, type RefObject } from "react";

import { useThumbnail } from "../../api/queries";
import type { Session } from "../../api/types";
import { plain } from "../../lib/plain";

/** What a window shows now: a picture a second, while it is on the screen. */
export function Picture({ session }: { session: Session }) {
  const place = useRef<HTMLDivElement>(null);
  const alive = session.status === "ready" || session.status === "busy";
  const { data, isError } = useThumbnail(session.session, session.activeTabId, useSeen(place) && alive);
  const title = session.tabs.find((tab) => tab.tabId === session.activeTabId)?.title;
  return (
    <div
      ref={place}
      className="relative aspect-[16/10] w-64 shrink-0 self-start overflow-hidden rounded-lg border border-line bg-sunken max-[900px]:w-52"
    >
      {data?.image && alive ? (
        <img
          src={`data:image/jpeg;base64,${data.image}`}
          alt={title ? `The window shows ${plain(title)}` : "What the window shows"}
          draggable={false}
          className={`size-full object-contain object-top transition-opacity ${isError ? "opacity-50" : ""}`}
        />
      ) : (
        <div className="grid size-full place-items-center text-faint">
          {alive && !isError ? (
            <span className="text-xs">Waiting for a picture…</span>
          ) : (
            <ImageOff aria-label="There is no picture now" size={18} />
          )}
        </div>
      )}
    </div>
  );
}

/** Whether an element is within the window, and the window is seen. */
function useSeen(place: RefObject<Element | null>): boolean {
  const [within, setWithin] = useState(false);
  const [awake, setAwake] = useState(document.visibilityState === "visible");
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const observer = new IntersectionObserver((entries) => setWithin(entries.at(-1)?.isIntersecting ?? false));
    observer.observe(element);
    const changed = () => setAwake(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", changed);
    return () => {
      observer.disconnect();
      document.removeEventListener("visibilitychange", changed);
    };
  }, [place]);
  return within && awake;
}
