/** A question that waits for its answer. */

import { type AskInput, AskOrigin } from "@parley/client/v1/asks";
import type { AskAsked } from "@parley/client/v1/turns";

/** What is shown of a question. The `ask` event and a conversation's pending ask both are one. */
export type Asked = Pick<
  AskAsked,
  "toolCallId" | "input" | "simple" | "origin" | "toolName" | "toolArgsJson"
>;

/**
 * Tells whether the answer lets something happen that can't be taken back or that the server guards:
 * then nothing may hide in what is shown.
 */
export function isGuarded(input: AskInput, origin: AskOrigin): boolean {
  if (origin === AskOrigin.APPROVAL) return true;
  return input.kind.case === "confirm" && input.kind.value.destructive === true;
}
