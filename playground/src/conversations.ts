/** The list of conversations. */

import type { Conversation } from "@parley/client/v1/conversations";
import { signal } from "@preact/signals";
import { coalesced } from "./coalesced";
import { faultOf } from "./faults";
import { tell } from "./news";
import { complain } from "./notice";
import { client } from "./server";

const PAGE = 50;

/** Lists conversations, the last changed first; undefined until they were read. */
export const conversations = signal<readonly Conversation[] | undefined>(undefined);

/** Says that there are more than were read. */
export const more = signal(false);

let pages = 1;

/** Reads the list anew. */
export const refreshConversations = coalesced(async () => {
  try {
    const read: Conversation[] = [];
    let pageToken = "";
    for (let page = 0; page < pages; page++) {
      const answer = await client.conversations.listConversations({ pageSize: PAGE, pageToken });
      read.push(...answer.conversations);
      pageToken = answer.nextPageToken;
      if (!pageToken) break;
    }
    conversations.value = read;
    more.value = pageToken !== "";
  } catch (failed) {
    const fault = faultOf(failed);
    // What is shown already is good enough until the next try, which is never far.
    if (!conversations.peek()) complain(fault, () => void refreshConversations());
  }
});

/** Reads a page more. */
export function showMore(): Promise<void> {
  pages += 1;
  return refreshConversations();
}

/** Gives a conversation another title; an empty one takes it away. */
export async function rename(conversationId: string, title: string): Promise<void> {
  try {
    await client.conversations.updateConversation({
      conversation: { conversationId, title },
      updateMask: { paths: ["title"] },
    });
    tell(conversationId);
  } catch (failed) {
    complain(faultOf(failed), () => void rename(conversationId, title));
  }
}

/** Deletes a conversation for good. */
export async function remove(conversationId: string): Promise<void> {
  try {
    await client.conversations.deleteConversation({ conversationId });
  } catch (failed) {
    const fault = faultOf(failed);
    if (fault.reason !== "CONVERSATION_NOT_FOUND") {
      complain(fault, () => void remove(conversationId));
      return;
    }
  }
  tell(conversationId, true);
}
