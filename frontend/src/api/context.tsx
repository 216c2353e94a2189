import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createContext, useEffect, useState, type ReactNode } from "react";

import { Client, Fault } from "./client";
import { keepFresh } from "./events";

/** The client of the pipe that the page uses. */
export const Api = createContext<Client | null>(null);

/** What is fetched stays fresh until an event says otherwise; a lost pipe is waited for, other errors are answers. */
function newCache(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Infinity,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: "always",
        retry: (failures, error) => failures < 3 && error instanceof Fault && error.code === "PIPE_LOST",
        retryDelay: (failures) => 200 * 2 ** failures,
      },
      mutations: { networkMode: "always" },
    },
  });
}

export function ApiProvider({ client, children }: { client: Client; children: ReactNode }) {
  const [cache] = useState(newCache);
  // The subscription comes before the first fetch, so that nothing falls between them.
  const [listening, setListening] = useState(false);
  useEffect(() => {
    const end = keepFresh(client.pipe, cache);
    setListening(true);
    return end;
  }, [client, cache]);
  return (
    <Api value={client}>
      <QueryClientProvider client={cache}>{listening && children}</QueryClientProvider>
    </Api>
  );
}
