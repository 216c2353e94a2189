import { ScrollText } from "lucide-react";
import { useState } from "react";

import { useLog } from "../../api/log";
import { useOverview } from "../../api/queries";
import { Empty } from "../../ui/empty";
import { Failure } from "../../ui/failure";
import { Select } from "../../ui/field";
import { Page } from "../../ui/page";
import { Skeleton } from "../../ui/skeleton";
import { Detail } from "./detail";
import { Rows } from "./rows";
import { Verify } from "./verify";

const kinds = [
  { prefix: "", title: "Everything" },
  { prefix: "agent.action", title: "Actions" },
  { prefix: "approval", title: "Questions" },
  { prefix: "browser.navigation", title: "Navigation" },
  { prefix: "browser", title: "Windows and tabs" },
  { prefix: "agent", title: "Agents" },
  { prefix: "person", title: "What you did" },
  { prefix: "policy", title: "Rules applied" },
  { prefix: "setting", title: "Settings" },
  { prefix: "site", title: "Site rules" },
  { prefix: "history", title: "History" },
  { prefix: "host", title: "Host" },
];

/** The account of everything that happened, live. */
export function Audit() {
  const [prefix, setPrefix] = useState("");
  const [agent, setAgent] = useState("");
  const [seq, setSeq] = useState<number>();
  const { data: overview } = useOverview();
  const log = useLog({ prefix, agent });
  const chosen = log.rows.find((row) => row.seq === seq);
  return (
    <Page filled title="Audit" lead="Everything that happened, newest first. Each row seals the one before it." aside={<Verify />}>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Select aria-label="Kind" className="w-44" value={prefix} onChange={(e) => setPrefix(e.target.value)}>
          {kinds.map((kind) => (
            <option key={kind.prefix} value={kind.prefix}>
              {kind.title}
            </option>
          ))}
        </Select>
        <Select aria-label="Agent" className="w-48" value={agent} onChange={(e) => setAgent(e.target.value)}>
          <option value="">Every agent</option>
          {overview?.agents.map((a) => (
            <option key={a.agent} value={a.agent}>
              {a.agent}
            </option>
          ))}
        </Select>
      </div>
      <div className="-mx-6 flex min-h-0 flex-1 border-t border-line bg-surface">
        {log.error ? (
          <div className="flex-1 p-6">
            <Failure error={log.error} />
          </div>
        ) : log.rows.length > 0 ? (
          <Rows log={log} chosen={seq} choose={setSeq} />
        ) : (
          <div className="flex-1">
            {log.loading ? (
              <Skeleton lines={8} />
            ) : (
              <Empty icon={ScrollText} title="Nothing of this kind happened yet">
                Rows appear here the moment they are written.
              </Empty>
            )}
          </div>
        )}
        {chosen && <Detail event={chosen} close={() => setSeq(undefined)} />}
      </div>
    </Page>
  );
}
