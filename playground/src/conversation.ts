/** The conversation that is open, as the server keeps it. */

import { equals } from "@bufbuild/protobuf";
import { type Conversation, type Message, MessageSchema } from "@parley/client/v1/conversations";
import type { TurnError } from "@parley/client/v1/turns";
import { batch, signal } from "@preact/signals";
import { client } from "./server";

/** Why a turn failed that may be retried. */
export interface Failure {
  readonly turnId: string;
  readonly error: TurnError | undefined;
}

/** What the server keeps of a conversation. */
export interface Stored {
  readonly conversation: Conversation;
  readonly messages: readonly Message[];
  readonly failure: Failure | undefined;
}

/** Names the open conversation; empty for a new one. */
export const conversationId = signal("");

/** Is what was last read of it; undefined for a new one, and until it was read. */
export const stored = signal<Stored | undefined>(undefined);

/**
 * Reads a conversation with its messages.
 *
 * @throws ParleyError where the server refuses, or can't be reached.
 */
export async function read(id: string): Promise<Stored> {
  const conversation = await readConversation(id);
  const messages: Message[] = [];
  let pageToken = "";
  do {
    const page = await client.conversations.listMessages({ conversationId: id, pageToken });
    messages.push(...page.messages);
    pageToken = page.nextPageToken;
  } while (pageToken);
  const turnId = conversation.retryableTurnId;
  const failure = turnId ? { turnId, error: await whyFailed(id, turnId) } : undefined;
  return { conversation, messages, failure };
}

/**
 * Reads a conversation without its messages, which is cheap.
 *
 * @throws ParleyError where the server refuses, or can't be reached.
 */
export async function readConversation(id: string): Promise<Conversation> {
  const { conversation } = await client.conversations.getConversation({ conversationId: id });
  if (!conversation) throw new Error("The server said nothing of the conversation.");
  return conversation;
}

/** Shows what was read, unless another conversation is open by now. `also` happens at the same moment. */
export function show(found: Stored, also?: () => void): void {
  if (found.conversation.conversationId !== conversationId.peek()) return;
  batch(() => {
    const known = new Map(stored.peek()?.messages.map((each) => [each.messageId, each]));
    const messages = found.messages.map((each) => kept(known.get(each.messageId), each));
    stored.value = { ...found, messages };
    also?.();
  });
}

/** Returns the message that is shown where the new one says the same: what it shows is not drawn anew. */
function kept(known: Message | undefined, read: Message): Message {
  return known && equals(MessageSchema, known, read) ? known : read;
}

async function whyFailed(id: string, turnId: string): Promise<TurnError | undefined> {
  const { turn } = await client.turns.getTurn({ conversationId: id, turnId });
  return turn?.result?.error;
}
