import type { Agent } from "../../api/types";
import { count, several } from "../../lib/amount";
import { doingOf } from "../../lib/words";
import { AgentButtons } from "../../ui/agent-buttons";
import { Badge, Dot } from "../../ui/badge";
import { Card } from "../../ui/card";
import { Avatar, Name } from "../../ui/name";
import { Ago, Since } from "../../ui/time";

/** The agents that are connected, and what each does now. */
export function Agents({ agents }: { agents: Agent[] }) {
  return (
    <Card title="Agents" aside={<span className="text-xs text-muted">{several(agents.length, "connected", "connected")}</span>}>
      <ul className="divide-y divide-line">
        {agents.map((agent) => (
          <li key={agent.agent} aria-label={agent.agent} className="flex items-center gap-3 px-4 py-3">
            <Avatar name={agent.agent} />
            <div className="min-w-0 flex-1">
              <div className="flex min-w-0 items-center gap-2">
                <Name of={agent.agent} className="font-semibold" />
                {agent.state === "paused" && <Badge tone="warn">Paused</Badge>}
                {agent.state === "stopped" && <Badge tone="bad">Stopped</Badge>}
              </div>
              <p className="flex min-w-0 items-center gap-1.5 text-muted">
                <Doing agent={agent} />
              </p>
            </div>
            <span className="shrink-0 text-xs text-muted max-[900px]:hidden">
              {count(agent.actions)} {agent.actions === 1 ? "action" : "actions"}
            </span>
            <AgentButtons agent={agent} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Doing({ agent: { running, lastAction, connectedAt } }: { agent: Agent }) {
  if (running) {
    return (
      <>
        <Dot tone="good" pulse />
        <span className="truncate">
          {doingOf(running.method)}
          {running.tab && running.method !== "open_new_tab" ? ` in tab ${running.tab}` : ""} for <Since at={running.startedAt} />
        </span>
      </>
    );
  }
  if (lastAction) {
    return (
      <span className="truncate">
        {lastAction.ok ? "Last: " : "Failed: "}
        {doingOf(lastAction.method).toLowerCase()}, <Ago at={lastAction.at} />
        {lastAction.code ? ` · ${lastAction.code}` : ""}
      </span>
    );
  }
  return (
    <span className="truncate">
      Connected{connectedAt && <> <Ago at={connectedAt} /></>}, has done nothing yet
    </span>
  );
}
