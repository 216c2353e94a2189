/** The product's sign: a window, and the person's yes on it. */
export function Mark({ size = 26 }: { size?: number }) {
  return (
    <svg aria-hidden width={size} height={size} viewBox="0 0 64 64" className="shrink-0">
      <rect width="64" height="64" rx="15" fill="#256259" />
      <path
        d="M47 30V21a6 6 0 0 0-6-6H18a6 6 0 0 0-6 6v20a6 6 0 0 0 6 6h10"
        fill="none"
        stroke="#f4f7f5"
        strokeWidth="4.5"
        strokeLinecap="round"
      />
      <path d="M12 25.5h35" stroke="#f4f7f5" strokeWidth="4.5" />
      <circle cx="43" cy="43" r="12" fill="#ffd58a" />
      <path
        d="m37.6 43.4 3.8 3.8 7.2-8"
        fill="none"
        stroke="#1d4a43"
        strokeWidth="4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
