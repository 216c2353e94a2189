import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** What stands where nothing is yet: why, and what to do. */
export function Empty({ icon: Icon, title, children }: { icon: LucideIcon; title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center px-6 py-10 text-center">
      <span className="mb-3 grid size-10 place-items-center rounded-xl bg-hover text-muted">
        <Icon aria-hidden size={20} strokeWidth={1.75} />
      </span>
      <p className="font-semibold">{title}</p>
      {children && <div className="mt-1 max-w-md text-muted">{children}</div>}
    </div>
  );
}
