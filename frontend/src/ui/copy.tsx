import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";

import { Button } from "./button";

/** A button that copies text, and says that it did. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState<"no" | "yes" | "failed">("no");
  useEffect(() => {
    if (copied === "no") return;
    const timer = setTimeout(() => setCopied("no"), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () =>
    toClipboard(text).then(
      () => setCopied("yes"),
      () => setCopied("failed"),
    );
  return (
    <Button size="small" onClick={copy} aria-label={`Copy ${what}`}>
      {copied === "yes" ? <Check aria-hidden size={13} /> : <Copy aria-hidden size={13} />}
      <span aria-live="polite">{copied === "yes" ? "Copied" : copied === "failed" ? "Select and copy" : "Copy"}</span>
    </Button>
  );
}

/** WebKit's window has no permission for the clipboard of pages; the old way works there. */
async function toClipboard(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    return;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.style.position = "fixed";
    field.style.opacity = "0";
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (!copied) throw new Error("the clipboard cannot be written");
  }
}
