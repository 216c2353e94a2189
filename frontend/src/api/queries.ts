import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useContext, useSyncExternalStore } from "react";

import { Api } from "./context";
import type { Client, Fault } from "./client";
import type { PipeState } from "./pipe";
import type { Method, Methods, Question } from "./types";

/** The keys of the query cache; events make them stale (events.ts). */
export const keys = {
  overview: ["overview"],
  sessions: ["sessions"],
  questions: ["questions"],
  settings: ["settings"],
  sites: ["sites"],
  history: ["history"],
  thumbnail: ["thumbnail"],
  connect: ["connect"],
  audit: ["audit"],
} as const satisfies Record<string, readonly string[]>;

/** Returns the client of the pipe that this page uses. */
export function useClient(): Client {
  const client = useContext(Api);
  if (!client) throw new Error("there is no pipe above this component");
  return client;
}

/** Whether the host is there. */
export function usePipeState(): PipeState {
  const { state } = useClient();
  return useSyncExternalStore(state.subscribe, state.get);
}

export function useOverview() {
  const client = useClient();
  return useQuery({ queryKey: keys.overview, queryFn: () => client.call("overview", {}) });
}

export function useSessions() {
  const client = useClient();
  return useQuery({ queryKey: keys.sessions, queryFn: async () => (await client.call("sessions", {})).sessions });
}

const none: Question[] = [];

/** The waiting questions, oldest first. */
export function useQuestions(): Question[] {
  const client = useClient();
  const { data } = useQuery({
    queryKey: keys.questions,
    queryFn: async () => (await client.call("questions", {})).questions,
  });
  return data ?? none;
}

/** The picture of a session's active tab, once a second while wanted. */
export function useThumbnail(session: string, tabId: number | undefined, wanted: boolean) {
  const client = useClient();
  return useQuery({
    queryKey: [...keys.thumbnail, session, tabId],
    queryFn: () => client.call("thumbnail", tabId === undefined ? { session } : { session, tabId }),
    enabled: wanted,
    refetchInterval: 1_000,
    placeholderData: (before) => before,
    retry: false,
  });
}

export function useSettings() {
  const client = useClient();
  return useQuery({ queryKey: keys.settings, queryFn: async () => (await client.call("settings", {})).settings });
}

export function useSites() {
  const client = useClient();
  return useQuery({ queryKey: keys.sites, queryFn: async () => (await client.call("sites", {})).sites });
}

/** The visits whose address or title has query in it, newest first, by pages. */
export function useHistory(query: string) {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: [...keys.history, query],
    queryFn: ({ pageParam }) =>
      client.call("history", {
        limit: 50,
        ...(query ? { query } : {}),
        ...(pageParam ? { before: pageParam } : {}),
      }),
    initialPageParam: 0,
    getNextPageParam: (page) => (page.more ? page.visits.at(-1)?.id : undefined),
    placeholderData: (before) => before,
  });
}

export function useConnectInfo() {
  const client = useClient();
  return useQuery({ queryKey: keys.connect, queryFn: () => client.call("connect_info", {}), staleTime: Infinity });
}

/**
 * A method that the person sets off. What it changes comes back by events; the
 * keys in refresh are fetched at once besides, so that the person's own change
 * shows without waiting for its event.
 */
export function useAction<M extends Method>(method: M, refresh: readonly (readonly string[])[] = []) {
  const client = useClient();
  const cache = useQueryClient();
  return useMutation<Methods[M]["result"], Fault, Methods[M]["args"]>({
    mutationFn: (args) => client.call(method, args),
    onSettled: () => Promise.all(refresh.map((queryKey) => cache.invalidateQueries({ queryKey }))),
  });
}
