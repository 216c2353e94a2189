import { LoaderCircle, MessageSquareWarning } from "lucide-react";

import type { Tab } from "../../api/types";
import { hostOf } from "../../lib/address";
import { plain } from "../../lib/plain";
import { Address } from "../../ui/address";
import { Badge } from "../../ui/badge";

/** The tabs of a window. */
export function Tabs({ tabs, openQuestion }: { tabs: Tab[]; openQuestion: (question: string) => void }) {
  const shown = tabs.filter((tab) => tab.status !== "closed");
  if (shown.length === 0) return <p className="text-muted">No tab is open.</p>;
  return (
    <ul aria-label="Tabs" className="max-h-44 space-y-0.5 overflow-y-auto">
      {shown.map((tab) => (
        <li
          key={tab.tabId}
          aria-current={tab.active || undefined}
          className={`flex items-center gap-2.5 rounded-md px-2 py-1 ${tab.active ? "bg-hover" : ""}`}
        >
          <span className="grid w-5 shrink-0 place-items-center text-xs text-muted">
            {tab.status === "idle" ? tab.tabId : <LoaderCircle aria-label="Loading" size={13} className="animate-spin" />}
          </span>
          <div className="min-w-0 flex-1">
            <bdi className="block truncate font-medium" title={plain(tab.title)}>
              {plain(tab.title) || hostOf(tab.url) || "Untitled"}
            </bdi>
            <div className="text-xs">
              <Address url={tab.url} />
            </div>
            {tab.pendingApproval && <Held pending={tab.pendingApproval} open={openQuestion} />}
          </div>
          {tab.dialog && (
            <Badge tone="warn">
              <MessageSquareWarning aria-hidden size={12} />
              <span title={plain(tab.dialog.message)}>Dialog open</span>
            </Badge>
          )}
          {tab.crashed && <Badge tone="bad">Crashed</Badge>}
          {!tab.controlled && <Badge>Yours</Badge>}
        </li>
      ))}
    </ul>
  );
}

function Held({ pending, open }: { pending: NonNullable<Tab["pendingApproval"]>; open: (question: string) => void }) {
  return (
    <button
      type="button"
      onClick={() => open(pending.question)}
      className="my-1 block h-6 max-w-full truncate rounded-full border border-warn-line bg-warn-soft px-2.5 text-2xs font-medium text-warn hover:border-warn-solid"
    >
      Waits for you: {hostOf(pending.origin)}
    </button>
  );
}
