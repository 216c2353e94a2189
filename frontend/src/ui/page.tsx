import type { ReactNode } from "react";

interface PageProps {
  title: string;
  /** One sentence under the title. */
  lead?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  /** The view scrolls by itself and fills the window. */
  filled?: boolean;
}

/** A view: its title, and what it shows. */
export function Page({ title, lead, aside, children, filled = false }: PageProps) {
  return (
    <div className={filled ? "flex h-full flex-col" : "h-full overflow-y-auto"}>
      <div className={filled ? "flex min-h-0 w-full flex-1 flex-col px-6 pt-6" : "mx-auto w-full max-w-5xl px-6 py-6"}>
        <header className="mb-5 flex flex-wrap items-end justify-between gap-x-4 gap-y-2">
          <div className="min-w-0">
            <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
            {lead && <p className="mt-0.5 text-muted">{lead}</p>}
          </div>
          {aside}
        </header>
        {children}
      </div>
    </div>
  );
}
