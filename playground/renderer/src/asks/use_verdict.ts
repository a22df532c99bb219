/** What the server would say of an answer, asked for while it is in the making. */

import type { AskAnswer, AskFieldError } from "@parley/client/v1/asks";
import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import type { AskHost } from "../host";
import { whyOf } from "../why";

/** How long an answer has to stay as it is before the server is asked. */
const DEBOUNCE_MS = 250;

/** What is known of an answer. */
export type Verdict =
  /** Nothing: there is no answer to ask about. */
  | { readonly is: "none" }
  /** Nothing yet. `before` is what was wrong with the answer before this one. */
  | { readonly is: "out"; readonly before: readonly AskFieldError[] }
  | { readonly is: "given"; readonly faults: readonly AskFieldError[] }
  | { readonly is: "failed"; readonly why: string; readonly again: () => void };

interface Given {
  readonly answer: AskAnswer;
  readonly faults: readonly AskFieldError[];
  readonly why?: string;
}

/**
 * Returns what the server says of `answer`, told apart by identity. Another answer aborts the call
 * for the one before, so that a late verdict is never taken for the newer answer's.
 */
export function useVerdict(answer: AskAnswer | undefined, host: AskHost): Verdict {
  const [given, setGiven] = useState<Given>();
  const [round, again] = useReducer((count: number, _: undefined) => count + 1, 0);
  // A host that is made anew with each drawing is no reason to ask again.
  const latest = useRef(host);
  latest.current = host;
  useEffect(() => {
    if (!answer) return undefined;
    const call = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const faults = await latest.current.check(answer, call.signal);
        if (!call.signal.aborted) setGiven({ answer, faults });
      } catch (failed) {
        if (!call.signal.aborted) setGiven({ answer, faults: [], why: whyOf(failed) });
      }
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      call.abort();
    };
  }, [answer, round]);
  if (!answer) return { is: "none" };
  if (given?.answer !== answer) return { is: "out", before: given?.faults ?? [] };
  if (given.why === undefined) return { is: "given", faults: given.faults };
  return {
    is: "failed",
    why: given.why,
    again: () => {
      setGiven(undefined);
      again(undefined);
    },
  };
}
