import { ShieldCheck, ShieldX } from "lucide-react";

import { useAction } from "../../api/queries";
import { count, several } from "../../lib/amount";
import { plain } from "../../lib/plain";
import { Button } from "../../ui/button";

/** Checks that no row of the log was changed or taken out. */
export function Verify() {
  const verify = useAction("verify_audit");
  return (
    <div className="flex min-w-0 items-center gap-3">
      <p role="status" className="min-w-0 text-right text-xs text-muted">
        {verify.isPending && "Checking every row…"}
        {verify.error && <span className="text-bad">{verify.error.message}</span>}
        {verify.data?.ok && (
          <span className="inline-flex items-center gap-1.5 text-good">
            <ShieldCheck aria-hidden size={14} className="shrink-0" />
            Whole: {several(verify.data.rows, "row")}
            {verify.data.first !== undefined && verify.data.last !== undefined
              ? `, ${count(verify.data.first)} to ${count(verify.data.last)}`
              : ""}
          </span>
        )}
        {verify.data?.ok === false && (
          <span className="inline-flex items-center gap-1.5 font-medium text-bad">
            <ShieldX aria-hidden size={14} className="shrink-0" />
            Not whole{verify.data.brokenAt === undefined ? "" : ` from row ${count(verify.data.brokenAt)}`}
            {verify.data.why ? `: ${plain(verify.data.why)}` : ""}
          </span>
        )}
      </p>
      <Button disabled={verify.isPending} onClick={() => verify.mutate({})}>
        Verify
      </Button>
    </div>
  );
}
