import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowUp } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";

import { within } from "../../api/events";
import type { Log } from "../../api/log";
import type { Event } from "../../api/types";
import { several } from "../../lib/amount";
import { plain } from "../../lib/plain";
import { clock, day } from "../../lib/time";
import { happenedOf, particulars, toneOf } from "../../lib/words";
import { Name } from "../../ui/name";

const rowHeight = 32;

interface RowsProps {
  log: Log;
  chosen: number | undefined;
  choose: (seq: number) => void;
}

/** The rows, of which only those in sight are drawn. New ones do not move what one reads. */
export function Rows({ log: { rows, more, older }, chosen, choose }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [unseen, setUnseen] = useState(0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    getItemKey: (i) => rows[i]?.seq ?? i,
  });

  const top = rows[0]?.seq;
  const before = useRef(top);
  useLayoutEffect(() => {
    const added = rows.findIndex((row) => row.seq === before.current);
    before.current = top;
    const box = scroller.current;
    if (!box || added <= 0 || box.scrollTop < rowHeight) return;
    box.scrollTop += added * rowHeight;
    setUnseen((n) => n + added);
  }, [rows, top]);

  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && lastShown >= rows.length - 40) older();
  }, [more, older, lastShown, rows.length]);

  const move = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const from = rows.findIndex((row) => row.seq === chosen);
    const to = from < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, from + by));
    const row = rows[to];
    if (!row) return;
    choose(row.seq);
    virtual.scrollToIndex(to);
  };

  return (
    <div className="relative min-w-0 flex-1">
      <div
        ref={scroller}
        role="listbox"
        aria-label="Rows of the log"
        tabIndex={0}
        aria-activedescendant={chosen === undefined ? undefined : `row-${chosen}`}
        onKeyDown={move}
        onScroll={(event) => {
          if (event.currentTarget.scrollTop < rowHeight) setUnseen(0);
        }}
        className="h-full overflow-y-auto -outline-offset-2"
      >
        <div style={{ height: virtual.getTotalSize() }} className="relative">
          {items.map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <Row
                key={item.key}
                event={row}
                chosen={row.seq === chosen}
                top={item.start}
                choose={() => choose(row.seq)}
                newDay={day(new Date(rows[item.index - 1]?.at ?? row.at)) !== day(new Date(row.at))}
              />
            );
          })}
        </div>
      </div>
      {unseen > 0 && (
        <button
          type="button"
          onClick={() => scroller.current?.scrollTo({ top: 0 })}
          className="absolute top-3 left-1/2 inline-flex h-7 -translate-x-1/2 animate-rise items-center gap-1.5 rounded-full bg-accent px-3 text-xs font-medium text-on-accent shadow-high"
        >
          <ArrowUp aria-hidden size={13} /> {several(unseen, "new row")}
        </button>
      )}
    </div>
  );
}

/** What nobody but the person can do. */
const yours = ["person", "setting", "site", "history"];

/** Who did it when no agent did. */
function by({ category }: Event): string {
  return yours.some((part) => within(category, part)) ? "You" : "Chaperone";
}

const tones = { plain: "text-text", warn: "text-warn", bad: "text-bad" };

interface RowProps {
  event: Event;
  chosen: boolean;
  top: number;
  newDay: boolean;
  choose: () => void;
}

function Row({ event, chosen, top, newDay, choose }: RowProps) {
  const at = new Date(event.at);
  return (
    <div
      id={`row-${event.seq}`}
      role="option"
      aria-selected={chosen}
      onClick={choose}
      style={{ transform: `translateY(${top}px)`, height: rowHeight }}
      className={
        "absolute inset-x-0 top-0 flex items-center gap-4 px-6 " +
        (newDay ? "border-t border-line-strong " : "") +
        (chosen ? "bg-accent-soft" : "hover:bg-hover")
      }
    >
      <time dateTime={event.at} title={day(at)} className="w-16 shrink-0 text-xs text-muted">
        {clock(at)}
      </time>
      <span className="w-36 shrink-0 max-[900px]:w-24">
        {event.agent ? <Name of={event.agent} className="block" /> : <span className="text-faint">{by(event)}</span>}
      </span>
      <span className={`w-36 shrink-0 truncate font-medium ${tones[toneOf(event)]}`}>{happenedOf(event.category)}</span>
      <bdi className="min-w-0 flex-1 truncate text-muted">{plain(particulars(event))}</bdi>
      <span className="shrink-0 text-xs text-faint">{event.seq}</span>
    </div>
  );
}
