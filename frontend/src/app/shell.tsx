import { MessageCircleQuestion, Unplug } from "lucide-react";
import { useState } from "react";

import { usePipeState, useOverview, useSettings } from "../api/queries";
import { Approvals } from "../features/approvals/approvals";
import { several } from "../lib/amount";
import { wellbeing } from "../lib/words";
import { Dot } from "../ui/badge";
import { Kbd } from "../ui/kbd";
import { Mark } from "../ui/mark";
import { usePlace } from "./place";
import { views } from "./views";
import { useWindowState } from "./window-state";

/** The window: where one can go, what waits, the view, and the questions above all. */
export function Shell() {
  const [view, go] = usePlace();
  const [wanted, setWanted] = useState<{ question: string | undefined }>();
  useWindowState();
  const View = view.component;
  return (
    <Approvals wanted={wanted}>
      {(waiting) => (
        <div className="flex h-full">
          <aside className="flex w-52 shrink-0 flex-col border-r border-line bg-side px-3 pt-4 pb-3 max-[900px]:w-44">
            <div className="mb-5 flex items-center gap-2.5 px-2">
              <Mark />
              <span className="text-base font-semibold tracking-tight">Chaperone</span>
            </div>
            <nav aria-label="Views" className="space-y-0.5">
              {views.map(({ id, title, icon: Icon }, i) => (
                <a
                  key={id}
                  href={`#/${id}`}
                  draggable={false}
                  aria-current={id === view.id ? "page" : undefined}
                  aria-keyshortcuts={`Control+${i + 1}`}
                  onClick={(event) => {
                    event.preventDefault();
                    go(id);
                  }}
                  className={
                    "group flex h-8 cursor-default items-center gap-2.5 rounded-md px-2 font-medium transition-colors " +
                    (id === view.id ? "bg-surface text-text shadow-card" : "text-muted hover:bg-hover hover:text-text")
                  }
                >
                  <Icon aria-hidden size={16} strokeWidth={1.9} className={id === view.id ? "text-accent" : ""} />
                  {title}
                  {/* Not a tooltip: that would lie over the next view's name and take its clicks. */}
                  <span className="ml-auto opacity-0 transition-opacity group-hover:opacity-100 group-focus-visible:opacity-100">
                    <Kbd>{`Ctrl ${i + 1}`}</Kbd>
                  </span>
                </a>
              ))}
            </nav>
            <div className="flex-1" />
            {waiting > 0 && (
              <button
                type="button"
                onClick={() => setWanted({ question: undefined })}
                className="mb-2 flex items-center gap-2.5 rounded-lg border border-warn-line bg-warn-soft px-2.5 py-2 text-left font-medium text-warn transition-colors hover:border-warn-solid"
              >
                <MessageCircleQuestion aria-hidden size={16} className="shrink-0" />
                <span>{several(waiting, "question waits", "questions wait")}</span>
              </button>
            )}
            <Condition />
          </aside>
          <main className="flex min-w-0 flex-1 flex-col">
            <LostBanner />
            <div className="min-h-0 flex-1">
              <View key={view.id} openQuestion={(question) => setWanted({ question })} />
            </div>
          </main>
        </div>
      )}
    </Approvals>
  );
}

/** How the host is, in three words at the foot of the sidebar. */
function Condition() {
  const pipe = usePipeState();
  const { data: overview } = useOverview();
  const { data: settings } = useSettings();
  // What waits has a place of its own above.
  const state = overview && wellbeing({ ...overview, questions: [] }, settings?.agentControl);
  const [tone, words] =
    pipe === "lost"
      ? (["warn", "Reconnecting…"] as const)
      : !state
        ? (["plain", "Connecting…"] as const)
        : ([state.tone === "ok" ? "good" : state.tone, state.title] as const);
  return (
    <div role="status" className="flex items-start gap-2 px-2 py-1 text-xs text-muted">
      <span className="flex h-4 items-center">
        <Dot tone={tone} />
      </span>
      <span>{words}</span>
    </div>
  );
}

function LostBanner() {
  if (usePipeState() === "open") return null;
  return (
    <div role="status" className="flex items-center gap-2.5 border-b border-warn-line bg-warn-soft px-6 py-2 text-warn">
      <Unplug aria-hidden size={15} className="shrink-0" />
      <p>
        <span className="font-semibold">The connection to the host is lost.</span> What you see is from before; it is
        tried again by itself.
      </p>
    </div>
  );
}
