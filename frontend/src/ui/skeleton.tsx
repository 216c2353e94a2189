/** Grey lines in the place of what is on its way. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div role="status" aria-label="Loading" className="space-y-3 p-4">
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} className="h-4 animate-pulse rounded bg-hover" style={{ width: `${88 - ((i * 23) % 50)}%` }} />
      ))}
    </div>
  );
}
