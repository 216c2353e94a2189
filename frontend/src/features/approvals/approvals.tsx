import * as Dialog from "@radix-ui/react-dialog";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { useQuestions } from "../../api/queries";
import { QuestionCard } from "./question";

interface ApprovalsProps {
  /** A wish of the person to see a question, or all that wait; a new object is a new wish. */
  wanted: { question: string | undefined } | undefined;
  /** Drawn below the dialog; is told how many questions wait. */
  children: (waiting: number) => ReactNode;
}

/**
 * Shows the waiting questions one after another over whatever is drawn below.
 * "Later" puts the ones that wait aside until the person wants them or a new one
 * comes; nothing but an answer, or what happens to the page, settles a question.
 */
export function Approvals({ wanted, children }: ApprovalsProps) {
  const questions = useQuestions();
  const [aside, setAside] = useState<readonly string[]>([]);
  const [first, setFirst] = useState<string>();
  // All that were open since the dialog came up, so that "2 of 3" counts on while they are answered.
  const [sitting, setSitting] = useState<readonly string[]>([]);

  useEffect(() => {
    if (!wanted) return;
    setAside([]);
    setFirst(wanted.question);
  }, [wanted]);

  const open = questions.filter((q) => !aside.includes(q.question));
  const shown = open.find((q) => q.question === first) ?? open[0];
  const fresh = open.map((q) => q.question).filter((id) => !sitting.includes(id));
  if (open.length === 0 && sitting.length > 0) setSitting([]);
  else if (fresh.length > 0) setSitting([...sitting, ...fresh]);

  // The one that is shown stays until it is settled, whatever comes in meanwhile.
  const id = shown?.question;
  useEffect(() => setFirst(id), [id]);
  useFocusBack(id !== undefined);

  const later = () => setAside(questions.map((q) => q.question));
  return (
    <>
      {children(questions.length)}
      <Dialog.Root open={shown !== undefined} onOpenChange={(next) => !next && later()}>
        <Dialog.Portal>
          <Dialog.Overlay className="fixed inset-0 z-40 animate-appear bg-shade" />
          {shown && (
            <QuestionCard
              key={id}
              question={shown}
              place={sitting.indexOf(shown.question) + 1}
              of={sitting.length}
              later={later}
            />
          )}
        </Dialog.Portal>
      </Dialog.Root>
    </>
  );
}

/** Gives the focus back to what had it before the questions came up. */
function useFocusBack(open: boolean): void {
  const before = useRef<Element>(null);
  if (open && !before.current) before.current = document.activeElement;
  useEffect(() => {
    if (open) return;
    if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
    before.current = null;
  }, [open]);
}
