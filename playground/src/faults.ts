/** What went wrong, in a sentence for a person. */

import { Code, errorOf, type ParleyError } from "@parley/client";
import { refuse } from "./token";

/** A fault to show. */
export interface Fault {
  readonly reason: string;
  readonly text: string;
  /** Says whether the same may work in a moment. */
  readonly passing: boolean;
  readonly error: ParleyError;
}

const PASSING: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.ResourceExhausted,
  Code.DeadlineExceeded,
  Code.Aborted,
]);

/** Returns a failed call as a fault. One for want of a good token makes the page ask for another. */
export function faultOf(failed: unknown): Fault {
  const error = errorOf(failed);
  if (error.code === Code.Unauthenticated) refuse();
  const reachable = error.code !== Code.Unavailable || error.reason !== "";
  const text = reachable
    ? error.message || "Something went wrong that the server doesn't explain."
    : "The server can't be reached. Is it running?";
  const passing = PASSING.has(error.code) && error.reason !== "ASK_NOT_PENDING";
  return { reason: error.reason, text, passing, error };
}
