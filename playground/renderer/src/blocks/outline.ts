/** The levels of a document's headings. */

import { type Block, HeadingBlock_Size as Size } from "@parley/client/v1/blocks";
import { childrenOf } from "./shown";

/** A level of HTML's headings. */
export type Level = 1 | 2 | 3 | 4 | 5 | 6;

/**
 * Returns the level of each block: that of its own heading, or else that of the first heading inside of it.
 *
 * A size says how large a heading is, not how deep: the levels follow from the order of the sizes, so that none is
 * skipped, as people who jump from heading to heading expect. `top` is the level of the highest.
 */
export function outline(blocks: readonly Block[], top: Level): ReadonlyMap<Block, Level> {
  const levels = new Map<Block, Level>();
  place(blocks, top, [], levels);
  return levels;
}

/** Places blocks under the headings of `open`, whose sizes it changes. */
function place(blocks: readonly Block[], top: Level, open: number[], levels: Map<Block, Level>) {
  for (const block of blocks) {
    if (block.block.case === "heading") {
      const size = block.block.value.size || Size.SIZE_MD;
      while ((open.at(-1) ?? Number.POSITIVE_INFINITY) <= size) {
        open.pop();
      }
      levels.set(block, deeper(top, open.length));
      open.push(size);
    } else {
      levels.set(block, deeper(top, open.length));
    }
    if (block.block.case === "columns") {
      // What stands in one column heads nothing in the next.
      for (const child of childrenOf(block)) {
        place([child], top, [...open], levels);
      }
    } else if (block.block.case === "card") {
      const titled = block.block.value.title !== "";
      place(childrenOf(block), deeper(top, open.length + (titled ? 1 : 0)), [], levels);
    }
  }
}

/** Returns the level `steps` below another; the last one for all that would be lower still. */
export function deeper(level: Level, steps: number): Level {
  return Math.min(6, level + steps) as Level;
}
