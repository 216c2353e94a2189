import type { Answer } from "../../api/types";

export interface Choice {
  answer: Answer;
  label: string;
  /** What the key cap shows. */
  key: string;
  /** For assistive technology, in the form of aria-keyshortcuts. */
  shortcut: string;
}

/** What can be answered, in the order that it is shown. A and B, with Shift for always. */
export const choices: readonly Choice[] = [
  { answer: "allow_once", label: "Allow once", key: "A", shortcut: "A" },
  { answer: "allow_always", label: "Always allow", key: "⇧A", shortcut: "Shift+A" },
  { answer: "block_once", label: "Block once", key: "B", shortcut: "B" },
  { answer: "block_always", label: "Always block", key: "⇧B", shortcut: "Shift+B" },
];

/** The choice that a key press means. A key that is held down, or goes with Ctrl, Alt or Meta, means none. */
export function choiceOf(event: KeyboardEvent): Choice | undefined {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return undefined;
  // By the letter, or on layouts without Latin letters by the place of the key.
  const letter = /^[a-z]$/i.test(event.key) ? event.key.toUpperCase() : event.code.replace(/^Key/, "");
  const shortcut = (event.shiftKey ? "Shift+" : "") + letter;
  return choices.find((choice) => choice.shortcut === shortcut);
}

/**
 * How long a question is on the screen before it takes an answer, and the window
 * has the focus before it takes one by a key, in milliseconds: what was meant for
 * something else, when the question came up under it, must not decide.
 */
export const graceMs = 400;
