/** The turn of the open conversation that is followed: started here, or found running. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type TurnRequestInit, turnEvents } from "@parley/client";
import type { StreamTurnRequestSchema, TurnEvent } from "@parley/client/v1/turns";
import { computed, signal } from "@preact/signals";
import * as address from "./address";
import { announce } from "./announcement";
import { conversationId, read, show } from "./conversation";
import { faultOf } from "./faults";
import { tell } from "./news";
import { complain } from "./notice";
import { client } from "./server";
import { spokenReply } from "./spoken";
import { after, begun, type Said, type Turn } from "./turn";

/** Is what the person did. */
export type Input = NonNullable<MessageInitShape<typeof StreamTurnRequestSchema>["input"]>;

/** Is the turn; undefined when none is followed. */
export const turn = signal<Turn | undefined>(undefined);

/** Says that the agent works. */
export const busy = computed(() => turn.value !== undefined && !turn.value.done);

let leaving = new AbortController();

/**
 * Starts a turn of the open conversation, and returns once the server has stored it.
 *
 * The same input with the same `requestId` is one turn, however often it is started; without one
 * each call is another.
 *
 * @throws ParleyError where the server refuses it, or can't be reached.
 */
export function start(input: Input, said?: Said, requestId = ""): Promise<void> {
  return follow({ conversationId: conversationId.peek(), input, requestId }, said);
}

/**
 * Follows a turn that runs already, from its first event.
 *
 * @throws ParleyError where the server refuses, or can't be reached.
 */
export function watch(id: string, turnId: string): Promise<void> {
  return follow({ conversationId: id, turnId });
}

/** Follows no turn any more. The turn itself goes on. */
export function leave(): void {
  leaving.abort();
  turn.value = undefined;
}

async function follow(request: TurnRequestInit, said?: Said): Promise<void> {
  leave();
  leaving = new AbortController();
  const { signal } = leaving;
  turn.value = begun(said);
  const events = turnEvents(client, request, { signal });
  try {
    const { value } = await events.next();
    if (value) await take(value);
  } catch (failed) {
    if (signal.aborted) return;
    turn.value = undefined;
    throw failed;
  }
  void goOn(events, signal);
}

async function goOn(events: AsyncIterable<TurnEvent>, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of events) await take(event);
  } catch (failed) {
    if (signal.aborted) return;
    turn.value = undefined;
    complain(faultOf(failed), () => tell(conversationId.peek()));
  }
}

async function take(event: TurnEvent): Promise<void> {
  const now = after(turn.peek() ?? begun(), event);
  turn.value = now;
  const { case: name, value } = event.event;
  switch (name) {
    case "started":
      if (value.conversationCreated && !conversationId.peek()) {
        conversationId.value = value.conversationId;
        address.show(value.conversationId, "replace");
      }
      tell(value.conversationId);
      return;
    case "ask":
      announce(`The agent asks: ${value.input?.prompt ?? value.simple?.text ?? ""}`);
      tell(value.conversationId);
      return;
    case "askResolved":
      tell(conversationId.peek());
      return;
    case "done":
      if (now.reply) announce(`The agent replied: ${spokenReply(now.reply)}`);
      await end(value.conversationId, now);
      return;
    default:
  }
}

/** Puts what the server has stored in the place of the turn that ended. */
async function end(id: string, ended: Turn): Promise<void> {
  if (ended.error && !ended.done?.retryable) {
    complain({ text: ended.error.message, passing: false });
  }
  try {
    show(await read(id), () => {
      if (turn.peek() === ended) turn.value = undefined;
    });
  } catch (failed) {
    complain(faultOf(failed), () => void end(id, ended));
  }
  tell(id);
}
