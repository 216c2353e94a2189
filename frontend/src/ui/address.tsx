import { Fragment } from "react";

import { splitAddress } from "../lib/address";

/** An address with its host standing out. In one line it is cut at its end; wrapped it is shown whole. */
export function Address({ url, wrapped = false }: { url: string; wrapped?: boolean }) {
  const { before, host, after } = splitAddress(url);
  return (
    <bdi dir="ltr" title={wrapped ? undefined : url} className={wrapped ? "wrap-anywhere" : "block truncate"}>
      <span className="text-muted">{before}</span>
      <span className="font-semibold text-text">{host}</span>
      <span className="text-muted">{wrapped ? breakable(after) : after}</span>
    </bdi>
  );
}

/** Lets a long address break before its parts first. */
function breakable(text: string) {
  return text.split(/(?=[/?&#])/).map((part, i) => (
    <Fragment key={i}>
      <wbr />
      {part}
    </Fragment>
  ));
}
