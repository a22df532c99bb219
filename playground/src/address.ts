/** The address bar: its fragment brings the token, and keeps which conversation is open. */

/** What a fragment says. */
export interface Place {
  readonly token: string;
  readonly conversationId: string;
}

/** Returns what a fragment says, as in `#conversation=…`. */
export function placeOf(fragment: string): Place {
  const said = new URLSearchParams(fragment.replace(/^#/, ""));
  return { token: said.get("token") ?? "", conversationId: said.get("conversation") ?? "" };
}

/** Returns the fragment of a conversation; that of a new one is empty. */
export function fragmentOf(conversationId: string): string {
  return conversationId ? `#${new URLSearchParams({ conversation: conversationId })}` : "";
}

/** Writes a conversation to the address bar, in place of all that its fragment said. */
export function show(conversationId: string, how: "push" | "replace"): void {
  const url = location.pathname + location.search + fragmentOf(conversationId);
  if (how === "push") history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}
