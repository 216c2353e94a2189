import { AppWindow } from "lucide-react";

import { useOverview, useSessions } from "../../api/queries";
import { several } from "../../lib/amount";
import type { ViewProps } from "../../lib/view";
import { Empty } from "../../ui/empty";
import { Failure } from "../../ui/failure";
import { Page } from "../../ui/page";
import { Skeleton } from "../../ui/skeleton";
import { SessionCard } from "./session";

/** Every agent's window. */
export function Browsers({ openQuestion }: ViewProps) {
  const { data: sessions, error, refetch } = useSessions();
  const { data: overview } = useOverview();
  if (!sessions) {
    return <Page title="Browsers">{error ? <Failure error={error} again={() => void refetch()} /> : <Skeleton />}</Page>;
  }
  const open = sessions.filter((session) => session.status !== "closed");
  const closed = sessions.filter((session) => session.status === "closed");
  const agentOf = (name: string) => overview?.agents.find((agent) => agent.agent === name);
  return (
    <Page
      title="Browsers"
      lead={open.length > 0 ? `${several(open.length, "window")} open, each an agent’s own.` : "Each agent works in a window of its own."}
    >
      {open.length === 0 && (
        <div className="rounded-xl border border-line bg-surface shadow-card">
          <Empty icon={AppWindow} title="No browser window is open">
            A window opens when a connected agent first acts, and closes when the agent goes.
          </Empty>
        </div>
      )}
      <ul aria-label="Open windows" className="space-y-4">
        {open.map((session) => (
          <li key={session.session}>
            <SessionCard session={session} agent={agentOf(session.agent)} openQuestion={openQuestion} />
          </li>
        ))}
      </ul>
      {closed.length > 0 && (
        <p className="mt-4 text-xs text-muted">
          {several(closed.length, "window is", "windows are")} closed; the agent’s next action opens a new one with the same
          profile.
        </p>
      )}
    </Page>
  );
}
