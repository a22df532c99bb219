/** How long a text is. */

import { grouped } from "./wording";

/** What a counter is drawn with; lengths are in UTF-16 units. */
export interface CounterProps {
  readonly id?: string;
  readonly length: number;
  readonly max: number;
}

/** Shows how much of the room is used. */
export function Counter({ id, length, max }: CounterProps) {
  return (
    <p class={length > max ? "p-counter p-counter-over" : "p-counter"} id={id}>
      {grouped(length)} of {grouped(max)} characters
    </p>
  );
}
