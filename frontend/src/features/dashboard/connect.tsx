import { Plug } from "lucide-react";
import { useState, type KeyboardEvent } from "react";

import { useConnectInfo } from "../../api/queries";
import { Card } from "../../ui/card";
import { CopyButton } from "../../ui/copy";
import { Empty } from "../../ui/empty";
import { Failure } from "../../ui/failure";
import { Skeleton } from "../../ui/skeleton";

/** How an agent comes in. It is the main thing on the page while there is none. */
export function Connect({ first }: { first: boolean }) {
  const { data, error, refetch } = useConnectInfo();
  const [chosen, setChosen] = useState(0);
  const snippet = data?.snippets[chosen] ?? data?.snippets[0];
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined || !data) return;
    const next = (chosen + by + data.snippets.length) % data.snippets.length;
    setChosen(next);
    (event.currentTarget.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <Card title={first ? undefined : "Connect an agent"} label="Connect an agent">
      {first && (
        <Empty icon={Plug} title="No agent is connected yet">
          An agent comes in by starting a command and speaking to it, one line of JSON at a time. It gets a browser window
          of its own with its first action, and you are asked about every new site.
        </Empty>
      )}
      <div className={`px-4 pb-4 ${first ? "" : "pt-3"}`}>
        {error && <Failure error={error} again={() => void refetch()} />}
        {!data && !error && <Skeleton lines={2} />}
        {data && snippet && (
          <>
            <div className="flex items-end justify-between gap-3">
              <div role="tablist" aria-label="Ways to connect" onKeyDown={move} className="flex min-w-0 flex-wrap gap-1">
                {data.snippets.map(({ title }, i) => (
                  <button
                    key={title}
                    type="button"
                    role="tab"
                    aria-selected={title === snippet.title}
                    aria-controls="connect-snippet"
                    tabIndex={title === snippet.title ? 0 : -1}
                    onClick={() => setChosen(i)}
                    className={
                      "h-7 rounded-md px-2.5 text-xs font-medium transition-colors " +
                      (title === snippet.title ? "bg-hover text-text" : "text-muted hover:text-text")
                    }
                  >
                    {title}
                  </button>
                ))}
              </div>
              <CopyButton text={snippet.text} what={snippet.title} />
            </div>
            <pre
              id="connect-snippet"
              role="tabpanel"
              tabIndex={0}
              className="mt-2 max-h-56 overflow-auto rounded-lg border border-line bg-sunken px-3 py-2.5 font-mono text-xs leading-5"
            >
              {snippet.text}
            </pre>
          </>
        )}
      </div>
    </Card>
  );
}
