import { keys, useAction } from "../../api/queries";
import type { Settings } from "../../api/types";
import { Card } from "../../ui/card";
import { useSay } from "../../ui/notices";
import { Switch } from "../../ui/switch";

/** Whether agents may act at all. */
export function Control({ settings: { agentControl } }: { settings: Settings }) {
  const say = useSay();
  const change = useAction("change_settings", [keys.settings]);
  return (
    <Card label="Agent control">
      <div className="flex items-center gap-4 px-4 py-3.5">
        <div className="min-w-0 flex-1">
          <h2 className="text-sm font-semibold">Agent control</h2>
          <p className="text-muted">
            {agentControl
              ? "Agents may act in their own windows, within the rules below."
              : "Off: every action of every agent is refused. Their windows stay open for you to look at."}
          </p>
        </div>
        <Switch
          label="Agent control"
          on={agentControl}
          disabled={change.isPending}
          change={(on) =>
            change.mutate({ agentControl: on }, { onError: (e) => say.fault("The setting was not changed.", e) })
          }
        />
      </div>
    </Card>
  );
}
