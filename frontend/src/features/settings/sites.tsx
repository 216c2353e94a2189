import { Trash2 } from "lucide-react";
import { useId, useState, type FormEvent } from "react";

import { keys, useAction, useSites } from "../../api/queries";
import type { Site, SiteAccess } from "../../api/types";
import { several } from "../../lib/amount";
import { hostOf, toOrigin } from "../../lib/address";
import { Address } from "../../ui/address";
import { Button, IconButton } from "../../ui/button";
import { Card } from "../../ui/card";
import { Failure } from "../../ui/failure";
import { Select, TextField } from "../../ui/field";
import { useSay } from "../../ui/notices";
import { Skeleton } from "../../ui/skeleton";
import { Ago } from "../../ui/time";

/** The sites with a rule of their own. */
export function Sites() {
  const { data: sites, error, refetch } = useSites();
  return (
    <Card
      title="Sites with a rule of their own"
      aside={sites && <span className="text-xs text-muted">{several(sites.length, "site")}</span>}
    >
      <AddSite />
      {error && (
        <div className="p-4">
          <Failure error={error} again={() => void refetch()} />
        </div>
      )}
      {!sites && !error && <Skeleton lines={2} />}
      {sites?.length === 0 && (
        <p className="border-t border-line px-4 py-4 text-muted">
          None yet. “Always allow” and “Always block” in a question make one, and so does the line above.
        </p>
      )}
      {sites && sites.length > 0 && (
        <ul aria-label="Site rules" className="max-h-80 divide-y divide-line overflow-y-auto border-t border-line">
          {sites.map((site) => (
            <SiteRow key={site.origin} site={site} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function SiteRow({ site: { origin, access, at } }: { site: Site }) {
  const say = useSay();
  const set = useAction("set_site", [keys.sites]);
  const remove = useAction("remove_site", [keys.sites]);
  return (
    <li className="flex items-center gap-3 py-1.5 pr-3 pl-4">
      <div className="min-w-0 flex-1">
        <Address url={origin} />
      </div>
      <span className="shrink-0 text-xs text-muted max-[900px]:hidden">
        <Ago at={at} />
      </span>
      <Select
        aria-label={`Rule for ${origin}`}
        className="w-28"
        value={access}
        disabled={set.isPending}
        onChange={(event) =>
          set.mutate(
            { origin, access: event.target.value as SiteAccess },
            { onError: (e) => say.fault(`The rule for ${hostOf(origin)} was not changed.`, e) },
          )
        }
      >
        <option value="allow">Allow</option>
        <option value="block">Block</option>
      </Select>
      <IconButton
        label={`Remove the rule for ${origin}`}
        disabled={remove.isPending}
        onClick={() =>
          remove.mutate({ origin }, { onError: (e) => say.fault(`The rule for ${hostOf(origin)} was not removed.`, e) })
        }
      >
        <Trash2 aria-hidden size={15} />
      </IconButton>
    </li>
  );
}

function AddSite() {
  const say = useSay();
  const set = useAction("set_site", [keys.sites]);
  const [text, setText] = useState("");
  const [access, setAccess] = useState<SiteAccess>("allow");
  const help = useId();
  const origin = toOrigin(text);
  const wrong = text.trim() !== "" && !origin;
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (!origin) return;
    set.mutate(
      { origin, access },
      { onSuccess: () => setText(""), onError: (e) => say.fault(`No rule was set for ${hostOf(origin)}.`, e) },
    );
  };
  return (
    <form onSubmit={add} className="px-4 py-3">
      <div className="flex gap-2">
        <TextField
          aria-label="Site"
          aria-describedby={help}
          aria-invalid={wrong}
          placeholder="shop.example"
          className="flex-1"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Select
          aria-label="Rule"
          className="w-28"
          value={access}
          onChange={(event) => setAccess(event.target.value as SiteAccess)}
        >
          <option value="allow">Allow</option>
          <option value="block">Block</option>
        </Select>
        <Button type="submit" look="primary" disabled={!origin || set.isPending}>
          Add
        </Button>
      </div>
      <p id={help} className={`mt-1.5 text-xs ${wrong ? "text-bad" : "text-muted"}`}>
        {wrong
          ? "This is not a site of the web. Write a host such as shop.example, or an address that starts with https://."
          : origin
            ? `The rule is for ${origin}, exactly: not its subdomains or other ports.`
            : "A rule is for exactly one origin: scheme, host and port."}
      </p>
    </form>
  );
}
