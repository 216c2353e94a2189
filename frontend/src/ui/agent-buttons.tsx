import { OctagonX, Pause, Play } from "lucide-react";
import { useState } from "react";

import { keys, useAction } from "../api/queries";
import type { Agent } from "../api/types";
import { plain } from "../lib/plain";
import { Button } from "./button";
import { Confirm } from "./confirm";
import { useSay } from "./notices";

/** Pause or Resume, and Stop, for one agent. */
export function AgentButtons({ agent: { agent, state } }: { agent: Pick<Agent, "agent" | "state"> }) {
  const say = useSay();
  const pause = useAction("pause_agent", [keys.overview]);
  const resume = useAction("resume_agent", [keys.overview]);
  const stop = useAction("stop_agent", [keys.overview, keys.sessions]);
  const [asking, setAsking] = useState(false);
  const name = plain(agent);
  if (state === "gone") return null;
  return (
    <div className="flex shrink-0 gap-1.5">
      {state === "ready" ? (
        <Button
          size="small"
          aria-label={`Pause ${name}`}
          disabled={pause.isPending}
          onClick={() => pause.mutate({ agent }, { onError: (e) => say.fault(`${name} was not paused.`, e) })}
        >
          <Pause aria-hidden size={13} /> Pause
        </Button>
      ) : (
        <Button
          size="small"
          aria-label={`Resume ${name}`}
          disabled={resume.isPending}
          onClick={() => resume.mutate({ agent }, { onError: (e) => say.fault(`${name} was not resumed.`, e) })}
        >
          <Play aria-hidden size={13} /> Resume
        </Button>
      )}
      {state !== "stopped" && (
        <Button size="small" aria-label={`Stop ${name}`} disabled={stop.isPending} onClick={() => setAsking(true)}>
          <OctagonX aria-hidden size={13} /> Stop
        </Button>
      )}
      <Confirm
        open={asking}
        title={`Stop ${name}?`}
        action="Stop"
        close={() => setAsking(false)}
        confirm={() => stop.mutate({ agent }, { onError: (e) => say.fault(`${name} was not stopped.`, e) })}
      >
        What it is doing ends at once, and whatever it asks for next is refused until you resume it.
      </Confirm>
    </div>
  );
}
