import type { ReactNode } from "react";

import type { Overview } from "../../api/types";
import { bytes, several } from "../../lib/amount";
import { Dot, type Tone } from "../../ui/badge";
import { Card } from "../../ui/card";
import { Ago } from "../../ui/time";

/** The parts that must work, each in a line of words. */
export function Parts({ overview: { health, counts, sessions } }: { overview: Overview }) {
  const { chromium, display, ledger, tiers } = health;
  const notUp = tiers.filter((tier) => tier.status !== "up");
  const windows = sessions.filter((session) => session.status !== "closed").length;
  return (
    <Card title="Parts" aside={<span className="text-xs text-muted">Version {health.version}</span>}>
      <dl className="grid grid-cols-[auto_1fr] px-4 py-2">
        <Part name="Host" tone={notUp.length === 0 ? "good" : notUp.some((t) => t.status === "down") ? "bad" : "warn"}>
          {notUp.length === 0 ? (
            <>
              Everything runs; started <Ago at={health.startedAt} />
            </>
          ) : (
            notUp.map((tier) => `${tier.name}: ${tier.error ?? tier.status}`).join("; ")
          )}
        </Part>
        <Part name="Browser" tone={chromium.error ? "bad" : "good"}>
          <span title={chromium.path}>{chromium.error ?? `Chromium ${chromium.version ?? ""}`.trim()}</span>
          {!chromium.error && `, ${several(windows, "window")} open`}
        </Part>
        <Part name="Display" tone={display.ok ? "good" : "bad"}>
          {display.ok ? "Windows can be shown" : (display.error ?? "Windows cannot be shown")}
        </Part>
        <Part name="Record" tone={ledger.error ? "bad" : "good"}>
          {ledger.error ?? `${several(ledger.rows, "row")}, ${bytes(ledger.bytes)}; ${several(counts.actions, "action")} since the start`}
        </Part>
      </dl>
    </Card>
  );
}

function Part({ name, tone, children }: { name: string; tone: Tone; children: ReactNode }) {
  return (
    <>
      <dt className="flex items-center gap-2.5 py-1.5 pr-6 font-medium">
        <Dot tone={tone} />
        {name}
      </dt>
      <dd className="min-w-0 py-1.5 break-words text-muted select-text">{children}</dd>
    </>
  );
}
