/** The watch: the pending asks of all conversations, answered by the buttons of their cards. */

import { cardAnswer } from "@parley/client";
import { type PendingAsk, Surface } from "@parley/client/v1/turns";
import { signal } from "@preact/signals";
import { coalesced } from "./coalesced";
import { decidedElsewhere } from "./decided";
import { faultOf } from "./faults";
import { tell } from "./news";
import { client } from "./server";

/** Lists the asks, newest first; undefined until they were read. */
export const pendingAsks = signal<readonly PendingAsk[] | undefined>(undefined);

/** Names the asks of which a button was pressed and that are not through yet. */
export const pressed = signal<ReadonlySet<string>>(new Set());

/** Is what the watch has to say when a press came to nothing. */
export const watchFault = signal("");

/** A turn that was started by a press shows in other views as soon as they look for it. */
const LOOK_AFTER_MS = [100, 400, 1200];

/** Reads the list anew. */
export const refreshWatch = coalesced(async () => {
  try {
    const read: PendingAsk[] = [];
    let pageToken = "";
    do {
      const page = await client.turns.listPendingAsks({ pageToken });
      read.push(...page.pendingAsks);
      pageToken = page.nextPageToken;
    } while (pageToken);
    pendingAsks.value = read;
  } catch (failed) {
    const { reason, text } = faultOf(failed);
    if (reason === "ASKS_DISABLED") pendingAsks.value = [];
    else if (!pendingAsks.peek()) watchFault.value = text;
  }
});

/** Presses a button, unless one of that ask's is on its way. */
export async function press(ask: PendingAsk, buttonId: string): Promise<void> {
  const { conversationId, toolCallId } = ask;
  if (pressed.peek().has(toolCallId)) return;
  pressed.value = new Set(pressed.peek()).add(toolCallId);
  watchFault.value = "";
  for (const ms of LOOK_AFTER_MS) setTimeout(() => tell(conversationId), ms);
  try {
    await client.turns.turn({
      conversationId,
      input: cardAnswer(ask, buttonId),
      surface: Surface.COMPACT,
    });
  } catch (failed) {
    const { reason, text, error } = faultOf(failed);
    watchFault.value = reason === "ASK_NOT_PENDING" ? decidedElsewhere(error) : text;
  } finally {
    await refreshWatch();
    const left = new Set(pressed.peek());
    left.delete(toolCallId);
    pressed.value = left;
    tell(conversationId);
  }
}
