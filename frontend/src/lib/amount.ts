/** "12,431". */
export function count(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** "1 agent", "2 agents". */
export function several(n: number, one: string, many = one + "s"): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** A number of bytes: "812 B", "4.2 MB", by thousands. */
export function bytes(n: number): string {
  if (n < 1_000) return `${n} B`;
  let value = n / 1_000;
  for (const unit of ["kB", "MB"]) {
    if (value < 999.5) return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
    value /= 1_000;
  }
  return `${value.toFixed(1)} GB`;
}
