/** An area that scrolls by itself. */

import type { ComponentChildren } from "preact";

/** Lets what is too wide or too high for the page scroll, also with the keys. */
export function ScrollArea(props: { label: string; class?: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form, and this is none
    <div
      class={`p-b-scroll ${props.class ?? ""}`}
      role="group"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without a focus the arrow keys can't scroll it
      tabIndex={0}
    >
      {props.children}
    </div>
  );
}
