import { CircleCheck, CircleX, MessageCircleQuestion } from "lucide-react";

import { keys, useAction } from "../../api/queries";
import type { Access, Settings } from "../../api/types";
import { Card } from "../../ui/card";
import { useSay } from "../../ui/notices";

const policies: { access: Access; title: string; text: string; icon: typeof CircleCheck }[] = [
  { access: "allow", title: "Allow", text: "Agents open any site that has no rule against it.", icon: CircleCheck },
  { access: "ask", title: "Ask", text: "You are asked about each site that has no rule yet.", icon: MessageCircleQuestion },
  { access: "block", title: "Block", text: "Agents open only sites that you allowed.", icon: CircleX },
];

/** What happens to a site without a rule of its own. */
export function Navigation({ settings: { navigation } }: { settings: Settings }) {
  const say = useSay();
  const change = useAction("change_settings", [keys.settings]);
  return (
    <Card title="New sites">
      <fieldset disabled={change.isPending} className="grid grid-cols-3 gap-3 p-4">
        <legend className="sr-only">What happens when an agent wants to open a site without a rule</legend>
        {policies.map(({ access, title, text, icon: Icon }) => {
          const chosen = access === navigation;
          return (
            <label
              key={access}
              className={
                "relative flex flex-col rounded-lg border px-3 py-2.5 transition-colors " +
                "has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent " +
                (chosen ? "border-accent bg-accent-soft" : "border-control hover:bg-hover")
              }
            >
              <input
                type="radio"
                name="navigation"
                className="sr-only"
                checked={chosen}
                onChange={() =>
                  change.mutate({ navigation: access }, { onError: (e) => say.fault("The setting was not changed.", e) })
                }
              />
              <span className="flex items-center gap-2 font-semibold">
                <Icon aria-hidden size={15} className={chosen ? "text-accent" : "text-muted"} />
                {title}
              </span>
              <span className="mt-0.5 text-muted">{text}</span>
            </label>
          );
        })}
      </fieldset>
    </Card>
  );
}
