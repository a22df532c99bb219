/** The tree of a text in Markdown. */

import type { Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

/** A longer text is shown as it is: reading it would hold up the page. */
const LONGEST = 60_000;
/** A line that begins with more quotes and lists inside of each other than anybody writes; reading it takes seconds. */
const NESTED = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]))){60}/m;

/** Returns the tree of a text. Never throws: what can't be read is one paragraph of plain text. */
export function markdownTree(text: string): Root {
  if (text.length > LONGEST || NESTED.test(text)) {
    return plain(text);
  }
  try {
    return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  } catch {
    return plain(text);
  }
}

function plain(value: string): Root {
  return { type: "root", children: [{ type: "paragraph", children: [{ type: "text", value }] }] };
}

/** Returns the levels of the headings by their order, the highest being `top`, none skipped. */
export function headingLevels(depths: readonly number[], top: number): readonly number[] {
  const open: number[] = [];
  return depths.map((depth) => {
    while ((open.at(-1) ?? 0) >= depth) {
      open.pop();
    }
    open.push(depth);
    return Math.min(6, top + open.length - 1);
  });
}
