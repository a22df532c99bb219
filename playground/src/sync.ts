/** Keeps the page in step with the server, with other tabs and with the address bar. */

import { batch, effect } from "@preact/signals";
import * as address from "./address";
import { coalesced } from "./coalesced";
import { conversationId, read, readConversation, show, stored } from "./conversation";
import { refreshConversations } from "./conversations";
import { faultOf } from "./faults";
import { busy, leave, turn, watch } from "./following";
import { onNews } from "./news";
import { complain, hint, hush } from "./notice";
import { take, token } from "./token";
import { refreshWatch } from "./watch";

const POLL_MS = 3_000;
/** The list changes seldom without this page's doing, so it is read once in so many polls. */
const POLLS_A_LIST = 5;

/** Opens a conversation, a new one by an empty id. */
export function open(id: string, how: "push" | "replace" | "as-is" = "push"): void {
  if (how !== "as-is") address.show(id, how);
  batch(() => {
    leave();
    hush();
    conversationId.value = id;
    stored.value = undefined;
  });
  if (id) void check();
}

/** Reads the open conversation where it changed, and follows a turn that runs in it. */
export const check = coalesced(async () => {
  const id = conversationId.peek();
  // A turn that is followed reads the conversation itself when it ends.
  if (!id || !token.peek() || busy.peek()) return;
  try {
    const fresh = await readConversation(id);
    const running = fresh.runningTurnId;
    if (!running && !isNews(fresh.updateTime)) return;
    const found = await read(id);
    if (conversationId.peek() !== id || busy.peek()) return;
    show(found, () => {
      turn.value = undefined;
    });
    if (running) await watch(id, running);
  } catch (failed) {
    if (conversationId.peek() === id) lost(failed);
  }
});

function isNews(time: { seconds: bigint; nanos: number } | undefined): boolean {
  const known = stored.peek()?.conversation.updateTime;
  return !known || known.seconds !== time?.seconds || known.nanos !== time.nanos;
}

function lost(failed: unknown): void {
  const fault = faultOf(failed);
  if (fault.reason === "CONVERSATION_NOT_FOUND" || fault.reason === "NOT_OWNER") {
    open("", "replace");
    hint("That conversation is gone: it was deleted, or isn't yours.");
  } else if (!stored.peek()) {
    complain(fault, () => void check());
  }
}

/** Begins to keep in step. */
export function keepInStep(): void {
  const begin = () => {
    const place = address.placeOf(location.hash);
    if (place.token) take(place.token);
    if (place.token) address.show(place.conversationId, "replace");
    if (place.token || place.conversationId !== conversationId.peek()) {
      open(place.conversationId, "as-is");
    }
  };
  begin();
  addEventListener("hashchange", begin);
  addEventListener("popstate", begin);
  onNews(({ conversationId: id, deleted }) => {
    if (!token.peek()) return;
    if (deleted && id === conversationId.peek()) open("", "replace");
    void refreshConversations();
    void refreshWatch();
    if (id === conversationId.peek()) void check();
  });
  let polls = 0;
  const poll = () => {
    if (document.visibilityState !== "visible" || !token.peek()) return;
    void check();
    void refreshWatch();
    if (polls++ % POLLS_A_LIST === 0 && !busy.peek()) void refreshConversations();
  };
  setInterval(poll, POLL_MS);
  document.addEventListener("visibilitychange", poll);
  effect(() => {
    if (!token.value) return;
    void refreshConversations();
    void refreshWatch();
    void check();
  });
}
