/** The name of a key. */
export function Kbd({ children }: { children: string }) {
  return (
    <kbd
      aria-hidden
      className="inline-grid h-[18px] min-w-[18px] place-items-center rounded border border-current/25 px-1 font-sans text-2xs leading-none font-medium opacity-75"
    >
      {children}
    </kbd>
  );
}
