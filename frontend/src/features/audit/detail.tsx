import { X } from "lucide-react";
import { Fragment } from "react";

import type { Event } from "../../api/types";
import { plain } from "../../lib/plain";
import { exact } from "../../lib/time";
import { happenedOf } from "../../lib/words";
import { IconButton } from "../../ui/button";

/** One row of the log, whole. */
export function Detail({ event, close }: { event: Event; close: () => void }) {
  const facts: [string, string | undefined][] = [
    ["Row", String(event.seq)],
    ["When", exact(new Date(event.at))],
    ["Category", event.category],
    ["Agent", event.agent],
    ["About", event.subject],
    ["Call", event.call],
    ["Seal", event.hash],
  ];
  return (
    <aside aria-label="Row" className="flex w-80 shrink-0 animate-appear flex-col border-l border-line max-[900px]:w-64">
      <header className="flex h-11 shrink-0 items-center justify-between gap-2 border-b border-line pr-2 pl-4">
        <h2 className="truncate text-sm font-semibold">{happenedOf(event.category)}</h2>
        <IconButton label="Close the row" onClick={close}>
          <X aria-hidden size={15} />
        </IconButton>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto px-4 py-3">
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2">
          {facts.map(
            ([name, value]) =>
              value && (
                <Fragment key={name}>
                  <dt className="text-muted">{name}</dt>
                  <dd className={`min-w-0 break-all select-text ${name === "Seal" ? "font-mono text-xs" : ""}`}>
                    <bdi>{plain(value)}</bdi>
                  </dd>
                </Fragment>
              ),
          )}
        </dl>
        {event.data !== undefined && (
          <pre
            aria-label="Particulars"
            className="mt-4 overflow-x-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs leading-5 break-words whitespace-pre-wrap"
          >
            {JSON.stringify(event.data, null, 2).split("\n").map(plain).join("\n")}
          </pre>
        )}
      </div>
    </aside>
  );
}
