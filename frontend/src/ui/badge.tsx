import type { ReactNode } from "react";

const tones = {
  plain: "bg-hover text-muted",
  good: "bg-accent-soft text-accent",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
};

export type Tone = keyof typeof tones;

/** A word or two about the state of something. */
export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex h-5 shrink-0 items-center gap-1 rounded-full px-2 text-2xs font-medium whitespace-nowrap ${tones[tone]}`}
    >
      {children}
    </span>
  );
}

const dots = { plain: "bg-faint", good: "bg-good", warn: "bg-warn-solid", bad: "bg-bad" };

/** A coloured point beside words that say the same. */
export function Dot({ tone, pulse = false }: { tone: Tone; pulse?: boolean }) {
  return (
    <span aria-hidden className="relative inline-flex size-2 shrink-0">
      {pulse && <span className={`absolute inset-0 animate-ping rounded-full opacity-60 ${dots[tone]}`} />}
      <span className={`relative size-2 rounded-full ${dots[tone]}`} />
    </span>
  );
}
