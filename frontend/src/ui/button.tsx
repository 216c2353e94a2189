import type { ComponentProps } from "react";

const looks = {
  plain: "border border-line-strong bg-surface text-text hover:bg-hover",
  primary: "border border-transparent bg-accent text-on-accent hover:bg-accent-strong",
  quiet: "border border-transparent text-muted hover:bg-hover hover:text-text",
  danger: "border border-bad-line bg-surface text-bad hover:bg-bad-soft",
};

const sizes = {
  small: "h-7 gap-1.5 px-2.5 text-xs",
  normal: "h-8 gap-2 px-3 text-sm",
};

interface ButtonProps extends ComponentProps<"button"> {
  look?: keyof typeof looks;
  size?: keyof typeof sizes;
}

/** A button; disabled by aria-disabled where it must keep the focus. */
export function Button({ look = "plain", size = "normal", className = "", ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={
        "inline-flex shrink-0 items-center justify-center rounded-md font-medium whitespace-nowrap transition-colors " +
        "disabled:opacity-50 disabled:pointer-events-none " +
        `${looks[look]} ${sizes[size]} ${className}`
      }
      {...rest}
    />
  );
}

/** A button that is a sign only; label says in words what it does. */
export function IconButton({ label, className = "", ...rest }: ComponentProps<"button"> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={
        "inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted transition-colors " +
        `hover:bg-hover hover:text-text disabled:opacity-40 disabled:pointer-events-none ${className}`
      }
      {...rest}
    />
  );
}
