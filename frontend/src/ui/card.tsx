import type { ReactNode } from "react";

interface CardProps {
  title?: ReactNode;
  /** What stands at the right of the title. */
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
  label?: string;
}

/** A surface with a title, for one matter. */
export function Card({ title, aside, children, className = "", label }: CardProps) {
  return (
    <section aria-label={label} className={`rounded-xl border border-line bg-surface shadow-card ${className}`}>
      {title !== undefined && (
        <header className="flex min-h-11 items-center justify-between gap-3 border-b border-line px-4 py-1.5">
          <h2 className="text-sm font-semibold">{title}</h2>
          {aside}
        </header>
      )}
      {children}
    </section>
  );
}
