import { Component, type ReactNode } from "react";

import type { Client } from "../api/client";
import { ApiProvider } from "../api/context";
import { Button } from "../ui/button";
import { Notices } from "../ui/notices";
import { Clock } from "../ui/time";
import { Shell } from "./shell";

/** The whole interface on a client. */
export function Root({ client }: { client: Client }) {
  return (
    <Guard>
      <ApiProvider client={client}>
        <Clock>
          <Notices>
            <Shell />
          </Notices>
        </Clock>
      </ApiProvider>
    </Guard>
  );
}

/** Says what broke while drawing, instead of an empty window. */
class Guard extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <main role="alert" className="mx-auto mt-[14vh] max-w-lg px-6">
        <h1 className="text-lg font-semibold">The window could not be drawn</h1>
        <p className="mt-1 text-muted">
          This is a defect of Chaperone. Agents are still held to your rules; questions wait until you open the window
          again.
        </p>
        <pre className="mt-4 max-h-60 overflow-auto rounded-lg border border-line bg-surface p-3 text-xs whitespace-pre-wrap">
          {error.stack ?? error.message}
        </pre>
        <Button className="mt-4" look="primary" onClick={() => location.reload()}>
          Draw it again
        </Button>
      </main>
    );
  }
}
