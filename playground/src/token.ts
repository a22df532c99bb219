/** The bearer token: where it comes from, and who has it. */

import { signal } from "@preact/signals";

/**
 * Is the token; undefined while it is looked for, and empty when there is none.
 *
 * It is kept in `sessionStorage`: it outlives a reload, and is gone with the last tab. A new tab gets
 * it from another one of this page, so that nothing stays on disk.
 */
export const token = signal<string | undefined>(undefined);

/** Says that the server didn't take the last token. */
export const refused = signal(false);

const KEY = "parley-token";
const OTHER_TABS_MS = 250;
const tabs = new BroadcastChannel("parley-token");

type Word = { readonly wanted: true } | { readonly token: string };

/** Finds the token: in the address, of this tab, then of another one. */
export async function findToken(): Promise<void> {
  tabs.onmessage = ({ data }: MessageEvent<Word>) => {
    if ("token" in data) {
      if (!token.value) keep(data.token);
    } else if (token.value) {
      tabs.postMessage({ token: token.value } satisfies Word);
    }
  };
  const own = sessionStorage.getItem(KEY);
  if (own && !token.value) token.value = own;
  if (token.value) return;
  tabs.postMessage({ wanted: true } satisfies Word);
  await new Promise((resolve) => setTimeout(resolve, OTHER_TABS_MS));
  token.value ??= "";
}

/** Keeps a token that the person or the address brought, and hands it to tabs that have none. */
export function take(given: string): void {
  keep(given.trim());
  tabs.postMessage({ token: given.trim() } satisfies Word);
}

/** Forgets the token, since the server didn't take it. */
export function refuse(): void {
  if (!token.value) return;
  sessionStorage.removeItem(KEY);
  refused.value = true;
  token.value = "";
}

function keep(given: string): void {
  sessionStorage.setItem(KEY, given);
  refused.value = false;
  token.value = given;
}
