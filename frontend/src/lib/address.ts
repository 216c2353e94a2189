import { plain } from "./plain";

/** An address in the parts that a person reads apart. Joined, they are the address. */
export interface Address {
  /** "https://", and a user name where there is one. */
  before: string;
  /** Host and port: who is on the other end. */
  host: string;
  /** Path, query and fragment. */
  after: string;
  /** Whether what is sent can be read and changed on its way. Loopback never leaves the machine. */
  insecure: boolean;
}

/** Splits an address; one that cannot be read is all "after". */
export function splitAddress(address: string): Address {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return { before: "", host: "", after: plain(address), insecure: false };
  }
  if (!url.host) return { before: "", host: "", after: plain(url.href), insecure: false };
  const user = url.username ? url.username + (url.password ? ":•••" : "") + "@" : "";
  const after = url.pathname + url.search + url.hash;
  return {
    before: `${url.protocol}//${user}`,
    host: url.host,
    after: after === "/" ? "" : plain(after),
    insecure: url.protocol === "http:" && !isLoopback(url.hostname),
  };
}

/** Returns the host and port of an address or origin, or the text itself. */
export function hostOf(address: string): string {
  return splitAddress(address).host || plain(address);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

/**
 * Returns the origin that a person means by text ("shop.example" is
 * "https://shop.example"), or undefined when it is none of the web.
 */
export function toOrigin(text: string): string | undefined {
  const trimmed = text.trim();
  if (!trimmed || /\s/.test(trimmed)) return undefined;
  const scheme = /^[a-z][a-z0-9+.-]*:(\/\/|(?!\d))/i.test(trimmed) ? "" : isLoopbackText(trimmed) ? "http://" : "https://";
  let url: URL;
  try {
    url = new URL(scheme + trimmed);
  } catch {
    return undefined;
  }
  if ((url.protocol !== "https:" && url.protocol !== "http:") || !url.hostname) return undefined;
  return url.origin;
}

function isLoopbackText(text: string): boolean {
  return isLoopback(text.replace(/[/?#].*$/, "").replace(/:\d+$/, ""));
}
