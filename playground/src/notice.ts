/** The one sentence that the page has to say about what went wrong, or what it can't do. */

import { signal } from "@preact/signals";
import type { Fault } from "./faults";

/** A sentence, with what there is to do about it. */
export interface Notice {
  readonly text: string;
  readonly kind: "fault" | "hint";
  readonly retry?: () => void;
}

/** Is what is said at the moment. */
export const notice = signal<Notice | undefined>(undefined);

/** Says what is worth knowing, though nothing failed. */
export function hint(text: string): void {
  notice.value = { text, kind: "hint" };
}

/** Says what failed. Where it may pass there is a button that tries again. */
export function complain(fault: Pick<Fault, "text" | "passing">, again?: () => void): void {
  const retry = fault.passing && again ? { retry: again } : {};
  notice.value = { text: fault.text, kind: "fault", ...retry };
}

/** Takes back what was said. */
export function hush(): void {
  notice.value = undefined;
}
