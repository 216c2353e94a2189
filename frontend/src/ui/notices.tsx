import { CircleAlert, Info, X } from "lucide-react";
import { createContext, useCallback, useContext, useEffect, useState, type ReactNode } from "react";

import type { Fault } from "../api/client";
import { IconButton } from "./button";

interface Notice {
  id: number;
  text: string;
  hint: string | undefined;
  bad: boolean;
}

interface Say {
  /** Says something that passes by itself. */
  note(text: string): void;
  /** Says what went wrong; it stays until it is dismissed. */
  fault(what: string, error: Fault): void;
}

const Saying = createContext<Say | null>(null);

/** Returns what to say things to the person with. */
export function useSay(): Say {
  const say = useContext(Saying);
  if (!say) throw new Error("there are no notices above this component");
  return say;
}

/** The place for short messages, in the corner, above every view. */
export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<Notice[]>([]);
  const add = useCallback((text: string, hint: string | undefined, bad: boolean) => {
    setNotices((before) => {
      const id = (before.at(-1)?.id ?? 0) + 1;
      return [...before.filter((n) => n.text !== text), { id, text, hint, bad }].slice(-4);
    });
  }, []);
  const remove = useCallback((id: number) => setNotices((before) => before.filter((n) => n.id !== id)), []);
  const [say] = useState<Say>(() => ({
    note: (text) => add(text, undefined, false),
    fault: (what, error) => add(`${what} ${error.message}`, error.hint, true),
  }));
  return (
    <Saying value={say}>
      {children}
      <div
        role="log"
        aria-label="Messages"
        aria-live="polite"
        className="pointer-events-none fixed right-4 bottom-4 z-60 flex w-80 max-w-[calc(100vw-32px)] flex-col gap-2"
      >
        {notices.map((notice) => (
          <Line key={notice.id} notice={notice} remove={remove} />
        ))}
      </div>
    </Saying>
  );
}

function Line({ notice: { id, text, hint, bad }, remove }: { notice: Notice; remove: (id: number) => void }) {
  useEffect(() => {
    if (bad) return;
    const timer = setTimeout(() => remove(id), 6_000);
    return () => clearTimeout(timer);
  }, [id, bad, remove]);
  const Icon = bad ? CircleAlert : Info;
  return (
    <div className="pointer-events-auto flex animate-rise items-start gap-2.5 rounded-lg border border-line bg-surface py-2.5 pr-1.5 pl-3 shadow-high">
      <Icon aria-hidden size={16} className={`mt-px shrink-0 ${bad ? "text-bad" : "text-accent"}`} />
      <div className="min-w-0 flex-1 select-text">
        <p className="break-words">{text}</p>
        {hint && <p className="break-words text-muted">{hint}</p>}
      </div>
      <IconButton label="Dismiss" className="-my-1" onClick={() => remove(id)}>
        <X aria-hidden size={14} />
      </IconButton>
    </div>
  );
}
