import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";

const box =
  "h-8 rounded-md border border-control bg-surface text-sm text-text placeholder:text-faint disabled:opacity-50";

/** A line of text to fill in. */
export function TextField({ className = "", ...rest }: ComponentProps<"input">) {
  return (
    <input autoComplete="off" autoCorrect="off" spellCheck={false} className={`${box} min-w-0 px-2.5 ${className}`} {...rest} />
  );
}

/** One of a few. */
export function Select({ className = "", ...rest }: ComponentProps<"select">) {
  return (
    <span className={`relative inline-flex min-w-0 ${className}`}>
      <select className={`${box} w-full min-w-0 appearance-none truncate pr-7 pl-2.5`} {...rest} />
      <ChevronDown aria-hidden size={14} className="pointer-events-none absolute top-2.25 right-2 text-muted" />
    </span>
  );
}
