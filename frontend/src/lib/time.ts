/*
 * Times in words and figures. Intl is not used: under a C locale WebKitGTK names
 * a language on which its constructors throw, and the interface is English.
 */

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (n: number) => String(n).padStart(2, "0");

/** "14:03:22", in the person's own time. */
export function clock(at: Date): string {
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** "30 Nov 2026". */
export function day(at: Date): string {
  return `${at.getDate()} ${months[at.getMonth()] ?? ""} ${at.getFullYear()}`;
}

/** "30 Nov 2026, 14:03:22.041". */
export function exact(at: Date): string {
  return `${day(at)}, ${clock(at)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/** A length of time in milliseconds: "420 ms", "3.2 s", "4 min 10 s", "2 h 5 min". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long ago at is: "just now", "12 s ago", "4 min ago", "3 h ago", then the day. */
export function ago(at: Date, now: Date): string {
  const seconds = Math.floor((now.getTime() - at.getTime()) / 1_000);
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return day(at);
}
