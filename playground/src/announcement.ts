/** What a screen reader says without being asked. */

import { signal } from "@preact/signals";

/** Is said as soon as it changes. */
export const announcement = signal("");

/** Says something; the same sentence twice too. */
export function announce(text: string): void {
  // A live region speaks of changes alone.
  announcement.value = announcement.peek() === text ? `${text}\u00a0` : text;
}
