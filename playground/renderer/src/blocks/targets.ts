/** Where a button that opens something leads. */

import type { OpenAction } from "@parley/client/v1/blocks";

/** What a button opens, and what a person is told of it before. */
export interface Target {
  readonly open: { readonly url: string } | { readonly route: string };
  /** Is the host of an address, or the route. */
  readonly where: string;
  /** Is the whole of it. */
  readonly whole: string;
}

/**
 * Returns where an action leads; nothing where it may not.
 *
 * The server has not checked the address. Only https is opened, and none with a name and a password in it, for such a
 * name can look like the host.
 */
export function openTarget({ target }: OpenAction): Target | undefined {
  if (target.case === "route") {
    return { open: { route: target.value }, where: target.value, whole: target.value };
  }
  const url = target.case === "url" ? httpsUrl(target.value) : undefined;
  return url && { open: { url: url.href }, where: url.host, whole: url.href };
}

/** Returns an address of https without a name and a password; nothing for any other text. */
export function httpsUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "https:" && url.username === "" && url.password === "" ? url : undefined;
}
