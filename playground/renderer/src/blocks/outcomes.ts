/** What the host's actions of a document came to. */

import type { BlockDocument } from "@parley/client/v1/blocks";
import {
  RunBlockActionResponse_Replace as Replace,
  type RunBlockActionResponse,
} from "@parley/client/v1/turns";

/** What the buttons of one block came to. */
export interface Outcome {
  /** Are the messages, the oldest first. */
  readonly texts: readonly string[];
  /** Is the last document that came. */
  readonly document?: BlockDocument;
  /** Says that the document takes the place of the block. */
  readonly instead: boolean;
}

/** What the buttons of a document came to, by the ids of their blocks. */
export interface Outcomes {
  readonly blocks: ReadonlyMap<string, Outcome>;
  /** Takes the place of the whole document. */
  readonly message?: BlockDocument;
  /** Are the messages that came along with `message`. */
  readonly texts: readonly string[];
}

/** Nothing was pressed yet. */
export const NO_OUTCOMES: Outcomes = { blocks: new Map(), texts: [] };

/**
 * Returns the outcomes with one more.
 *
 * A text is added to those before it; a document takes the place of the one before it, and of what the answer says. What
 * the blocks of a replaced message had come to goes with it.
 */
export function settle(
  outcomes: Outcomes,
  blockId: string,
  { text, blocks: document, replace }: RunBlockActionResponse,
): Outcomes {
  const said = text === "" ? [] : [text];
  if (document !== undefined && replace === Replace.MESSAGE) {
    return { blocks: new Map(), message: document, texts: [...outcomes.texts, ...said] };
  }
  const before = outcomes.blocks.get(blockId) ?? { texts: [], instead: false };
  const texts = [...before.texts, ...said];
  const outcome: Outcome =
    document === undefined
      ? { ...before, texts }
      : { texts, document, instead: before.instead || replace === Replace.BLOCK };
  return { ...outcomes, blocks: new Map(outcomes.blocks).set(blockId, outcome) };
}
