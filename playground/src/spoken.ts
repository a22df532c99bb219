/** What a screen reader is told of a reply: its words, without the marks and the figures. */

import type { Block, BlockDocument } from "@parley/client/v1/blocks";
import type { Reply } from "./turn";

const LONGEST = 400;

/** Returns a reply in a few sentences. */
export function spokenReply({ text, document }: Pick<Reply, "text" | "document">): string {
  const words = document ? spokenDocument(document) : withoutMarks(text);
  return words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words;
}

function spokenDocument({ blocks }: BlockDocument): string {
  return blocks.flatMap(spokenBlock).join(". ");
}

function spokenBlock({ block }: Block): string[] {
  switch (block.case) {
    case "heading":
    case "badge":
    case "callout":
    case "context":
      return [block.value.text];
    case "text":
      return [withoutMarks(block.value.markdown)];
    case "metric":
      return [`${block.value.label}: ${block.value.value}`];
    case "chart":
      return [block.value.title ? `Chart: ${block.value.title}` : "A chart"];
    case "table":
      return [block.value.title ? `Table: ${block.value.title}` : "A table"];
    case "image":
      return [`Image: ${block.value.alt}`];
    case "details":
    case "html":
      return block.value.title ? [block.value.title] : [];
    case "card":
    case "columns":
      return block.value.children.flatMap(spokenBlock);
    default:
      return [];
  }
}

function withoutMarks(markdown: string): string {
  return markdown
    .replace(/[#*_`>|]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
