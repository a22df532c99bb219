/** A reply as it is stored: its text, and below it the rules of documents that it breaks. */

import { create } from "@bufbuild/protobuf";
import { type BlockIssue, BlockIssueSchema } from "@parley/client/v1/blocks";

/** A reply without its note. */
export interface StoredReply {
  readonly text: string;
  /** Is what the note lists; how to mend it isn't stored. */
  readonly errors: readonly BlockIssue[];
}

/** Begins the note, which the model of the next turn reads. */
const NOTE = "\n\nBlock validation errors:\n";

/** Returns a stored reply with its note read. A text that merely speaks of such a note stays whole. */
export function readReply(stored: string): StoredReply {
  const at = stored.lastIndexOf(NOTE);
  const lines = at < 0 ? [] : stored.slice(at + NOTE.length).split(/\n(?=- )/);
  const errors = lines.map(issueOf);
  // Paths hold the keys that a model wrote, so a line may go on in the next one.
  if (!errors[0]) return { text: stored, errors: [] };
  return { text: stored.slice(0, at), errors: errors.filter((each) => each !== undefined) };
}

function issueOf(line: string): BlockIssue | undefined {
  // The path of the document itself is empty, and each code has a line in it.
  const parts = /^- (.*?) ([A-Z]+(?:_[A-Z]+)+) (.*)$/s.exec(line);
  if (!parts) return undefined;
  const [, path = "", code = "", message = ""] = parts;
  return create(BlockIssueSchema, { path, code, message });
}
