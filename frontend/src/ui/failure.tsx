import { CircleAlert } from "lucide-react";

import type { Fault } from "../api/client";
import { Button } from "./button";

/** What stands where something could not be had: what went wrong, what to do, and another try. */
export function Failure({ error, again }: { error: Error | Fault; again?: () => void }) {
  const hint = "hint" in error ? error.hint : undefined;
  return (
    <div role="alert" className="flex items-start gap-3 rounded-lg border border-bad-line bg-bad-soft px-4 py-3">
      <CircleAlert aria-hidden size={16} className="mt-0.5 shrink-0 text-bad" />
      <div className="min-w-0 flex-1 select-text">
        <p className="font-medium break-words">{error.message}</p>
        {hint && <p className="break-words text-muted">{hint}</p>}
      </div>
      {again && (
        <Button size="small" onClick={again}>
          Try again
        </Button>
      )}
    </div>
  );
}
