import * as Dialog from "@radix-ui/react-dialog";
import { useRef, type ReactNode } from "react";

import { Button } from "./button";

interface ConfirmProps {
  open: boolean;
  title: string;
  children: ReactNode;
  /** What happens, as the button says it. */
  action: string;
  confirm: () => void;
  close: () => void;
}

/** Asks before something that cannot be taken back. The focus starts on "Cancel". */
export function Confirm({ open, title, children, action, confirm, close }: ConfirmProps) {
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 animate-appear bg-shade" />
        <Dialog.Content
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            cancel.current?.focus();
          }}
          className="fixed top-1/2 left-1/2 z-35 w-[min(420px,calc(100vw-48px))] -translate-x-1/2 -translate-y-1/2 rounded-xl bg-surface p-5 shadow-high"
        >
          <Dialog.Title className="text-lg font-semibold">{title}</Dialog.Title>
          <Dialog.Description asChild>
            <div className="mt-1.5 text-muted">{children}</div>
          </Dialog.Description>
          <div className="mt-5 flex justify-end gap-2">
            <Button ref={cancel} onClick={close}>
              Cancel
            </Button>
            <Button
              look="danger"
              onClick={() => {
                confirm();
                close();
              }}
            >
              {action}
            </Button>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
