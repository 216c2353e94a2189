import * as Dialog from "@radix-ui/react-dialog";
import { ArrowRight, Globe, TriangleAlert } from "lucide-react";
import { useCallback, useEffect, useRef, useState, type ReactNode } from "react";

import { useAction, keys } from "../../api/queries";
import type { Answer, Question } from "../../api/types";
import { hostOf } from "../../lib/address";
import { plain } from "../../lib/plain";
import { viaOf } from "../../lib/words";
import { Address } from "../../ui/address";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Failure } from "../../ui/failure";
import { Kbd } from "../../ui/kbd";
import { Avatar, Name } from "../../ui/name";
import { useSay } from "../../ui/notices";
import { Ago } from "../../ui/time";
import { choiceOf, choices, graceMs } from "./answers";

interface QuestionCardProps {
  question: Question;
  /** "place of of" is shown when there are several. */
  place: number;
  of: number;
  /** Puts the questions aside without an answer. */
  later: () => void;
}

/** One question. It is mounted anew for each, and stays until the host says that it is settled. */
export function QuestionCard({ question, place, of, later }: QuestionCardProps) {
  const safe = useRef<HTMLButtonElement>(null);
  const { answer, pending, error } = useAnswer(question);

  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      // A key that is held down since before presses no button here.
      if (event.repeat && (event.key === "Enter" || event.key === " ")) event.preventDefault();
      const choice = choiceOf(event);
      if (!choice) return;
      event.preventDefault();
      event.stopPropagation();
      answer(choice.answer, "key");
    };
    addEventListener("keydown", pressed, true);
    return () => removeEventListener("keydown", pressed, true);
  }, [answer]);

  const { notes } = question;
  const grave = question.risk === "high";

  return (
    <Dialog.Content
      role="alertdialog"
      aria-modal="true"
      onOpenAutoFocus={(event) => {
        event.preventDefault();
        safe.current?.focus();
      }}
      // The next question may have the focus already; Approvals gives it back in the end.
      onCloseAutoFocus={(event) => event.preventDefault()}
      // A click beside the dialog is no answer and puts nothing aside.
      onPointerDownOutside={(event) => event.preventDefault()}
      onInteractOutside={(event) => event.preventDefault()}
      className="fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100vh-32px)] w-[min(580px,calc(100vw-32px))] -translate-x-1/2 -translate-y-1/2 animate-rise flex-col overflow-hidden rounded-2xl bg-surface shadow-high"
    >
      <header className="flex items-center gap-3 border-b border-line px-5 py-3">
        <Avatar name={question.agent} />
        <div className="min-w-0 flex-1">
          <Name of={question.agent} className="block font-semibold" />
          <p className="text-xs text-muted">
            Tab {question.tabId} · asked <Ago at={question.askedAt} />
          </p>
        </div>
        {of > 1 && (
          <Badge tone="warn">
            {place} of {of}
          </Badge>
        )}
      </header>

      <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">
        <Dialog.Title className="text-lg leading-snug font-semibold break-words">
          Open <bdi className="break-all">{hostOf(question.origin || question.url)}</bdi>?
        </Dialog.Title>
        <Dialog.Description asChild>
          <div>
            <p className="mt-0.5 text-muted">{viaOf(question)}</p>
            <Route question={question} />
            <div className="mt-3 rounded-lg border border-line bg-sunken px-3 py-2.5">
              <div className="max-h-32 overflow-y-auto text-sm leading-5 select-text">
                <span className="mr-2 rounded bg-hover px-1.5 py-0.5 font-mono text-2xs font-semibold text-muted">
                  {plain(question.httpMethod)}
                </span>
                <Address url={question.url} wrapped />
              </div>
            </div>
            {notes.length > 0 && (
              <ul
                aria-label="Worth knowing"
                className={`mt-3 space-y-1.5 rounded-lg border px-3 py-2.5 ${grave ? "border-warn-line bg-warn-soft" : "border-line"}`}
              >
                {notes.map((note) => (
                  <li key={note} className="flex items-start gap-2">
                    <TriangleAlert
                      aria-hidden
                      size={14}
                      className={`mt-0.5 shrink-0 ${grave ? "text-warn" : "text-muted"}`}
                    />
                    <span className={grave ? "text-warn" : "text-muted"}>{plain(note)}</span>
                  </li>
                ))}
              </ul>
            )}
          </div>
        </Dialog.Description>
        {error && (
          <div className="mt-3">
            <Failure error={error} />
          </div>
        )}
      </div>

      <footer className="border-t border-line bg-sunken px-5 pt-3.5 pb-3">
        <div className="grid grid-cols-2 gap-2">
          {choices.map((choice) => (
            <Button
              key={choice.answer}
              ref={choice.answer === "block_once" ? safe : undefined}
              look={choice.answer === "allow_once" && !grave ? "primary" : "plain"}
              aria-keyshortcuts={choice.shortcut}
              aria-disabled={pending}
              // A click that no pointer made is the Enter or Space key.
              onClick={(event) => answer(choice.answer, event.detail === 0 ? "key" : "pointer")}
              className={`h-9 ${pending ? "opacity-60" : ""}`}
            >
              <span className="truncate">{choice.label}</span>
              <Kbd>{choice.key}</Kbd>
            </Button>
          ))}
        </div>
        <div className="mt-2.5 flex items-center justify-between gap-3">
          <p role="status" className="text-xs text-muted">
            {pending ? "Passing your answer on…" : "The page is held until you answer."}
          </p>
          <Button look="quiet" size="small" onClick={later}>
            Later <Kbd>Esc</Kbd>
          </Button>
        </div>
      </footer>
    </Dialog.Content>
  );
}

/** From which site to which. */
function Route({ question: { fromOrigin, fromTitle, origin, url } }: { question: Question }) {
  return (
    <div className="mt-3 flex items-center gap-2.5">
      <Place role="From">
        {fromOrigin ? (
          <>
            <bdi className="block truncate font-medium" title={fromOrigin}>
              {hostOf(fromOrigin)}
            </bdi>
            {fromTitle && (
              <bdi className="block truncate text-xs text-muted" title={plain(fromTitle)}>
                {plain(fromTitle)}
              </bdi>
            )}
          </>
        ) : (
          <span className="text-muted">No page</span>
        )}
      </Place>
      <ArrowRight aria-hidden size={16} className="shrink-0 text-muted" />
      <Place role="To">
        <bdi className="line-clamp-2 font-semibold wrap-anywhere" title={origin}>
          {hostOf(origin || url)}
        </bdi>
      </Place>
    </div>
  );
}

function Place({ role, children }: { role: string; children: ReactNode }) {
  return (
    <div className="flex min-h-12 min-w-0 flex-1 items-center gap-2.5 rounded-lg border border-line px-3 py-1.5">
      <Globe aria-hidden size={15} className="shrink-0 text-faint" />
      <div className="min-w-0">
        <span className="sr-only">{role}: </span>
        {children}
      </div>
    </div>
  );
}

/** Passes one answer on, once the grace is over, and says so when it came too late. */
function useAnswer({ question, origin }: Question) {
  const say = useSay();
  const { mutateAsync, isPending, data, error } = useAction("answer_question", [keys.questions, keys.overview]);
  const [shownAt] = useState(() => Date.now());
  const focusedAt = useRef(0);
  const busy = useRef(false);
  const answer = useCallback(
    (choice: Answer, by: "key" | "pointer") => {
      const since = by === "key" ? Math.max(shownAt, focusedAt.current) : shownAt;
      if (busy.current || Date.now() - since < graceMs) return;
      busy.current = true;
      mutateAsync({ question, answer: choice })
        .then(({ matched }) => {
          if (matched) return;
          busy.current = false;
          say.note(`The question about ${hostOf(origin)} was settled before your answer.`);
        })
        // The error is shown in the dialog, where another try is one key away.
        .catch(() => (busy.current = false));
    },
    [mutateAsync, say, question, origin, shownAt],
  );
  // The window may get the focus under the hands of someone who types elsewhere.
  useEffect(() => {
    const focused = () => (focusedAt.current = Date.now());
    addEventListener("focus", focused);
    return () => removeEventListener("focus", focused);
  }, []);
  // A taken answer is pending until the question is gone.
  return { answer, pending: isPending || data?.matched === true, error };
}
