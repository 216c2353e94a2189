import { plain } from "../lib/plain";

/** The name of an agent: its own words, so kept apart and in one line. */
export function Name({ of, className = "" }: { of: string; className?: string }) {
  return (
    <bdi title={of} className={`truncate ${className}`}>
      {plain(of)}
    </bdi>
  );
}

/** A letter on a ground that is always the same for the same name. */
export function Avatar({ name, large = false }: { name: string; large?: boolean }) {
  let hue = 0;
  for (const character of name) hue = (hue * 31 + (character.codePointAt(0) ?? 0)) % 360;
  const letter = [...plain(name)].find((c) => /[\p{L}\p{N}]/u.test(c)) ?? "?";
  return (
    <span
      aria-hidden
      className={`grid shrink-0 place-items-center rounded-lg font-semibold uppercase ${large ? "size-9 text-base" : "size-7 text-xs"}`}
      style={{
        background: `light-dark(hsl(${hue} 42% 90%), hsl(${hue} 26% 24%))`,
        color: `light-dark(hsl(${hue} 48% 27%), hsl(${hue} 52% 82%))`,
      }}
    >
      {letter}
    </span>
  );
}
