import { useOverview, usePipeState, useQuestions, useSettings } from "../../api/queries";
import type { ViewProps } from "../../lib/view";
import { wellbeing, type Wellbeing } from "../../lib/words";
import { Failure } from "../../ui/failure";
import { Page } from "../../ui/page";
import { Skeleton } from "../../ui/skeleton";
import { Agents } from "./agents";
import { Connect } from "./connect";
import { Parts } from "./parts";
import { Waiting } from "./waiting";

/** How things are, who is there, and what waits. */
export function Dashboard({ openQuestion }: ViewProps) {
  const { data: overview, error, refetch } = useOverview();
  const { data: settings } = useSettings();
  const questions = useQuestions();
  const pipe = usePipeState();
  if (!overview) {
    return <Page title="Dashboard">{error ? <Failure error={error} again={() => void refetch()} /> : <Skeleton />}</Page>;
  }
  const agents = overview.agents.filter((agent) => agent.connected);
  return (
    <Page title="Dashboard" lead={<State of={pipe === "lost" ? lost : wellbeing(overview, settings?.agentControl)} />}>
      <div className="space-y-4">
        {questions.length > 0 && <Waiting questions={questions} open={openQuestion} />}
        {agents.length > 0 && <Agents agents={agents} />}
        <Connect first={agents.length === 0} />
        <Parts overview={overview} />
      </div>
    </Page>
  );
}

const lost: Wellbeing = { tone: "warn", title: "The host does not answer", detail: "This is how things were." };

function State({ of: { tone, title, detail } }: { of: Wellbeing }) {
  const colour = { ok: "text-good", warn: "text-warn", bad: "text-bad" }[tone];
  return (
    <span role="status" aria-label="Health">
      <span className={`font-semibold ${colour}`}>{title}.</span> {detail}
    </span>
  );
}
