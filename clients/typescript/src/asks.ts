/** Answering a question that is newer than this client. */

import { create } from "@bufbuild/protobuf";
import type { SimpleCard } from "./gen/parley/v1/cards_pb.js";
import { type ButtonInput, ButtonInputSchema } from "./gen/parley/v1/turns_pb.js";

/** A question with its card, wherever it comes from: an event, a conversation, a list. */
export interface Asked {
  readonly toolCallId: string;
  readonly simple?: SimpleCard | undefined;
}

/**
 * Returns the `input` of a turn that presses a button of an ask's card.
 *
 * Every ask has a card. It is what to show where `input.kind.case` is undefined: that is a kind of
 * question which this client does not know.
 *
 * @throws RangeError where the card has no such button.
 */
export function cardAnswer(ask: Asked, buttonId: string): { case: "button"; value: ButtonInput } {
  const { toolCallId, simple } = ask;
  const buttonIds = simple?.buttons.map((button) => button.id) ?? [];
  if (!buttonIds.includes(buttonId)) {
    throw new RangeError(`The card has no button "${buttonId}": press one of ${buttonIds}.`);
  }
  return { case: "button", value: create(ButtonInputSchema, { toolCallId, buttonId }) };
}
