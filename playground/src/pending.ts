/** The question that the open conversation waits on. */

import { create } from "@bufbuild/protobuf";
import type { PendingAskView } from "@parley/client/v1/conversations";
import { type AskAsked, AskAskedSchema } from "@parley/client/v1/turns";
import { computed } from "@preact/signals";
import { conversationId, stored } from "./conversation";
import { turn } from "./following";

let last: AskAsked | undefined;

/** Is the question; the same object as long as it is the same question, so that a form keeps what is in it. */
export const pending = computed(() => {
  const found = current();
  if (found && last?.toolCallId === found.toolCallId) return last;
  last = found;
  return found;
});

function current(): AskAsked | undefined {
  if (turn.value?.ask) return turn.value.ask;
  const waiting = stored.value?.conversation.pendingAsk;
  if (!waiting || turn.value?.resolved?.toolCallId === waiting.toolCallId) return undefined;
  return asked(conversationId.value, waiting);
}

function asked(id: string, { $typeName, createTime, ...ask }: PendingAskView): AskAsked {
  return create(AskAskedSchema, { ...ask, conversationId: id });
}
