/** What is around every question: its title and words, a way out, and what went wrong. */

import type { AskInput } from "@parley/client/v1/asks";
import type { ComponentChildren } from "preact";
import { type Asked, isGuarded } from "./asked";
import { PlainText } from "./plain_text";
import type { Sending } from "./use_sending";

/** What a frame is drawn with. */
export interface FrameProps {
  /** Begins the ids in the frame: the words have `…-prompt`. */
  readonly id: string;
  readonly ask: Asked;
  readonly input: AskInput;
  readonly sending: Sending;
  readonly onDismiss: () => void;
  readonly children: ComponentChildren;
}

/** Draws a question around its controls. */
export function Frame({ id, ask, input, sending, onDismiss, children }: FrameProps) {
  const guarded = isGuarded(input, ask.origin);
  const shown = (text: string) => (guarded ? <PlainText text={text} /> : text);
  return (
    <section class="p-ask" aria-labelledby={input.title ? `${id}-title` : `${id}-prompt`}>
      <header class="p-ask-head">
        <div class="p-ask-words">
          {input.title && (
            <h3 class="p-ask-title" id={`${id}-title`} dir="auto">
              {shown(input.title)}
            </h3>
          )}
          <p class="p-ask-prompt" id={`${id}-prompt`} dir="auto">
            {shown(input.prompt)}
          </p>
        </div>
        <button
          type="button"
          class="p-ask-dismiss"
          aria-label="Dismiss this question"
          title="Dismiss this question"
          disabled={!sending.open}
          onClick={onDismiss}
        >
          <span aria-hidden="true">×</span>
        </button>
      </header>
      {children}
      {sending.failure && (
        <p class="p-problem" role="alert">
          {sending.failure}
        </p>
      )}
      {sending.done && (
        <p class="p-ask-sent" role="status">
          Sent
        </p>
      )}
    </section>
  );
}
