/** What became of a question that somebody else was faster to answer. */

import type { ParleyError } from "@parley/client";

const WHAT: Readonly<Record<string, string>> = {
  accept: "was answered",
  decline: "was skipped",
  cancel: "was set aside",
};

/** Returns a sentence about an ask that is no longer pending. */
export function decidedElsewhere({ metadata }: ParleyError): string {
  const { action = "" } = metadata;
  return `This question ${WHAT[action] ?? "is no longer open: it was decided"} elsewhere.`;
}
