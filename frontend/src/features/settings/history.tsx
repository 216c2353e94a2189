import { Trash2 } from "lucide-react";
import { useState } from "react";

import { keys, useAction, useHistory } from "../../api/queries";
import type { Visit } from "../../api/types";
import { several } from "../../lib/amount";
import { plain } from "../../lib/plain";
import { Address } from "../../ui/address";
import { Button, IconButton } from "../../ui/button";
import { Card } from "../../ui/card";
import { Confirm } from "../../ui/confirm";
import { Failure } from "../../ui/failure";
import { TextField } from "../../ui/field";
import { Name } from "../../ui/name";
import { useSay } from "../../ui/notices";
import { Skeleton } from "../../ui/skeleton";
import { Ago } from "../../ui/time";

/** Where agents have been. */
export function HistoryCard() {
  const [query, setQuery] = useState("");
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useHistory(query.trim());
  const visits = data?.pages.flatMap((page) => page.visits);
  return (
    <Card title="History" aside={<Clear disabled={!query && visits?.length === 0} />}>
      <div className="px-4 py-3">
        <TextField
          type="search"
          aria-label="Search the history"
          placeholder="Search by address or title"
          className="w-full"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      </div>
      {error && (
        <div className="px-4 pb-4">
          <Failure error={error} again={() => void refetch()} />
        </div>
      )}
      {!visits && !error && <Skeleton lines={3} />}
      {visits?.length === 0 && (
        <p className="border-t border-line px-4 py-4 text-muted">
          {query ? "No visit matches." : "No agent has opened a page yet."}
        </p>
      )}
      {visits && visits.length > 0 && (
        <ul aria-label="Visits" className="max-h-96 divide-y divide-line overflow-y-auto border-t border-line">
          {visits.map((visit) => (
            <VisitRow key={visit.id} visit={visit} />
          ))}
          {hasNextPage && (
            <li className="p-2 text-center">
              <Button size="small" look="quiet" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                Show older visits
              </Button>
            </li>
          )}
        </ul>
      )}
    </Card>
  );
}

function VisitRow({ visit: { id, at, agent, url, title } }: { visit: Visit }) {
  const say = useSay();
  const remove = useAction("remove_visit", [keys.history]);
  return (
    <li className="flex items-center gap-3 py-1.5 pr-3 pl-4">
      <div className="min-w-0 flex-1">
        <bdi className="block truncate font-medium">{plain(title) || "Untitled"}</bdi>
        <div className="text-xs">
          <Address url={url} />
        </div>
      </div>
      <div className="w-32 shrink-0 text-right text-xs text-muted">
        <Name of={agent} className="block" />
        <Ago at={at} />
      </div>
      <IconButton
        label={`Remove the visit to ${plain(title) || url}`}
        disabled={remove.isPending}
        onClick={() => remove.mutate({ id }, { onError: (e) => say.fault("The visit was not removed.", e) })}
      >
        <Trash2 aria-hidden size={15} />
      </IconButton>
    </li>
  );
}

function Clear({ disabled }: { disabled: boolean }) {
  const say = useSay();
  const clear = useAction("clear_history", [keys.history]);
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button size="small" look="danger" disabled={disabled || clear.isPending} onClick={() => setAsking(true)}>
        Clear history
      </Button>
      <Confirm
        open={asking}
        title="Clear the history?"
        action="Clear history"
        close={() => setAsking(false)}
        confirm={() =>
          clear.mutate(
            {},
            {
              onSuccess: ({ removed }) => say.note(`${several(removed, "visit")} removed.`),
              onError: (e) => say.fault("The history was not cleared.", e),
            },
          )
        }
      >
        Every visit of every agent is removed from this list. The audit log keeps its rows.
      </Confirm>
    </>
  );
}
