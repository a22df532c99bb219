/** The question that waits, at the end of the chat. */

import { AskForm } from "@parley/renderer";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { askHost } from "./ask_host";
import { COMPOSER_ID } from "./composer";
import { text } from "./draft";
import { pending } from "./pending";

/** Shows the form of the pending ask, if there is one. */
export function Question() {
  const ask = pending.value;
  return ask ? <OpenQuestion key={ask.toolCallId} ask={ask} /> : null;
}

function OpenQuestion({ ask }: { readonly ask: NonNullable<typeof pending.value> }) {
  const place = useRef<HTMLElement>(null);
  const used = useRef(false);
  const host = useMemo(() => askHost(ask), [ask]);
  useEffect(() => {
    // The chat scrolls to it by itself.
    if (isIdle()) place.current?.focus({ preventScroll: true });
    // The form goes with its answer, which must not leave the keyboard nowhere.
    return () => {
      if (used.current && isIdle()) document.getElementById(COMPOSER_ID)?.focus();
    };
  }, []);
  return (
    <section
      ref={place}
      class="p-question"
      tabIndex={-1}
      aria-label="Question from the agent"
      onFocusIn={({ target }) => {
        used.current ||= target !== place.current;
      }}
    >
      <AskForm ask={ask} host={host} />
    </section>
  );
}

/** Says that nobody is in the middle of something from which a new question would tear them. */
function isIdle(): boolean {
  const active = document.activeElement;
  if (!active || active === document.body || active.closest(".p-question")) return true;
  return active.id === COMPOSER_ID && text.peek() === "";
}
