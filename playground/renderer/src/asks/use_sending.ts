/** Sending an answer, once. */

import { useRef, useState } from "preact/hooks";
import { whyOf } from "../why";

/** How an answer's way to the server stands. */
export interface Sending {
  /** Says whether nothing is on its way and nothing was taken. */
  readonly open: boolean;
  /** Says whether the server took the answer. The page will put something in the form's place. */
  readonly done: boolean;
  /** Says why the last try failed; empty where it did not. */
  readonly failure: string;
  /** Sends, unless something else is being sent. `send` tells whether the server took it. */
  readonly run: (send: () => Promise<boolean>) => Promise<void>;
  /** Says why the answer can't be taken. */
  readonly fail: (why: string) => void;
}

/** Returns how sending stands. A second press while the first is on its way does nothing. */
export function useSending(): Sending {
  const [state, setState] = useState<"open" | "busy" | "done">("open");
  const [failure, fail] = useState("");
  const closed = useRef(false);
  const run = async (send: () => Promise<boolean>) => {
    if (closed.current) return;
    closed.current = true;
    setState("busy");
    fail("");
    let taken = false;
    try {
      taken = await send();
    } catch (failed) {
      fail(whyOf(failed));
    }
    closed.current = taken;
    setState(taken ? "done" : "open");
  };
  return { open: state === "open", done: state === "done", failure, run, fail };
}
