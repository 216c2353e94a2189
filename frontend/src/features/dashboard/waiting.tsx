import { MessageCircleQuestion } from "lucide-react";

import type { Question } from "../../api/types";
import { several } from "../../lib/amount";
import { Address } from "../../ui/address";
import { Button } from "../../ui/button";
import { Name } from "../../ui/name";
import { Ago } from "../../ui/time";

/** The questions that wait for the person. */
export function Waiting({ questions, open }: { questions: Question[]; open: (question: string) => void }) {
  return (
    <section aria-label="Waiting questions" className="rounded-xl border border-warn-line bg-warn-soft">
      <h2 className="flex items-center gap-2 px-4 pt-3 pb-1 text-sm font-semibold text-warn">
        <MessageCircleQuestion aria-hidden size={16} />
        {several(questions.length, "question waits", "questions wait")} for you
      </h2>
      <ul className="divide-y divide-warn-line/50">
        {questions.map((question) => (
          <li key={question.question} className="flex items-center gap-3 px-4 py-2.5">
            <div className="min-w-0 flex-1">
              <Address url={question.url} />
              <p className="flex min-w-0 gap-1.5 text-xs text-muted">
                <Name of={question.agent} className="font-medium" />
                <span className="shrink-0">
                  asked <Ago at={question.askedAt} />
                </span>
              </p>
            </div>
            <Button look="primary" size="small" onClick={() => open(question.question)}>
              Decide
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
