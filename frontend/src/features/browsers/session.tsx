import { X } from "lucide-react";
import { useState } from "react";

import { keys, useAction } from "../../api/queries";
import type { Agent, Session } from "../../api/types";
import { plain } from "../../lib/plain";
import { doingOf } from "../../lib/words";
import { AgentButtons } from "../../ui/agent-buttons";
import { Badge, Dot, type Tone } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { Confirm } from "../../ui/confirm";
import { Avatar, Name } from "../../ui/name";
import { useSay } from "../../ui/notices";
import { Since } from "../../ui/time";
import { Tabs } from "./tabs";
import { Picture } from "./picture";

const states: Record<Session["status"], { words: string; tone: Tone }> = {
  starting: { words: "Starting", tone: "warn" },
  ready: { words: "Ready", tone: "good" },
  busy: { words: "Busy", tone: "good" },
  closing: { words: "Closing", tone: "plain" },
  closed: { words: "Closed", tone: "plain" },
  crashed: { words: "Crashed", tone: "bad" },
};

interface SessionCardProps {
  session: Session;
  agent: Agent | undefined;
  openQuestion: (question: string) => void;
}

/** One agent's window: who, what it shows, and the person's hand on it. */
export function SessionCard({ session, agent, openQuestion }: SessionCardProps) {
  const { words, tone } = states[session.status];
  const held = agent?.state === "paused" || agent?.state === "stopped";
  return (
    <Card label={`Window of ${session.agent}`}>
      <header className="flex items-center gap-3 border-b border-line px-4 py-2.5">
        <Avatar name={session.agent} />
        <div className="flex min-w-0 flex-1 items-center gap-2">
          <Name of={session.agent} className="font-semibold" />
          {!(session.status === "ready" && held) && <Badge tone={tone}>{words}</Badge>}
          {agent?.state === "paused" && <Badge tone="warn">Paused</Badge>}
          {agent?.state === "stopped" && <Badge tone="bad">Stopped</Badge>}
        </div>
        {agent && <AgentButtons agent={agent} />}
        <CloseButton session={session} />
      </header>
      <div className="flex gap-4 p-4">
        <Picture session={session} />
        <div className="flex min-w-0 flex-1 flex-col">
          {session.error && <p className="mb-2 break-words text-bad select-text">{session.error}</p>}
          <Tabs tabs={session.tabs} openQuestion={openQuestion} />
          <footer className="mt-auto flex flex-wrap items-center gap-x-4 gap-y-1 pt-3 text-xs text-muted">
            {agent?.running && (
              <span className="inline-flex items-center gap-1.5">
                <Dot tone="good" pulse />
                {doingOf(agent.running.method)} for <Since at={agent.running.startedAt} />
              </span>
            )}
            {session.startedAt && (
              <span>
                Open for <Since at={session.startedAt} />
              </span>
            )}
            {session.chromiumPid !== undefined && session.chromiumPid > 0 && <span>Process {session.chromiumPid}</span>}
          </footer>
        </div>
      </div>
    </Card>
  );
}

function CloseButton({ session: { session, agent, status } }: { session: Session }) {
  const say = useSay();
  const close = useAction("close_session", [keys.sessions, keys.overview]);
  const [asking, setAsking] = useState(false);
  const name = plain(agent);
  return (
    <>
      <Button
        look="danger"
        size="small"
        aria-label={`Close the window of ${name}`}
        disabled={close.isPending || status === "closing"}
        onClick={() => setAsking(true)}
      >
        <X aria-hidden size={13} /> Close
      </Button>
      <Confirm
        open={asking}
        title="Close this window?"
        action="Close the window"
        close={() => setAsking(false)}
        confirm={() => close.mutate({ session }, { onError: (e) => say.fault("The window was not closed.", e) })}
      >
        Its tabs close, and what was filled in there is lost. Logins stay. <bdi className="break-all">{name}</bdi> gets a
        new window with its next action; to keep it from acting, stop it.
      </Confirm>
    </>
  );
}
