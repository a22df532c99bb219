/** A watch beside the chat: it knows no kinds of question, and can answer nevertheless. */

import type { PendingAsk } from "@parley/client/v1/turns";
import { CardView } from "@parley/renderer";
import { useRef } from "preact/hooks";
import { conversationId } from "./conversation";
import { closePanel } from "./panel";
import { open } from "./sync";
import { pendingAsks, press, pressed, watchFault } from "./watch";

/** Shows the cards of all pending asks. */
export function WatchFrame() {
  const asks = pendingAsks.value;
  const screen = useRef<HTMLElement>(null);
  const answer = async (ask: PendingAsk, buttonId: string) => {
    await press(ask, buttonId);
    // The button that had the focus goes with its card, once that is drawn.
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) screen.current?.focus();
    });
  };
  return (
    <div class="p-watch-side">
      <div class="p-watch">
        <section
          ref={screen}
          class="p-watch-screen"
          aria-label="Questions on the watch"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has to be able to scroll it.
          tabIndex={0}
        >
          {watchFault.value && (
            <p class="p-watch-fault" role="alert">
              {watchFault.value}
            </p>
          )}
          {asks?.length === 0 && <p class="p-watch-empty">No questions</p>}
          {asks && asks.length > 0 && (
            <ul>
              {asks.map((ask) => (
                <li key={`${ask.conversationId} ${ask.toolCallId}`}>
                  <WatchCard ask={ask} onPress={(buttonId) => void answer(ask, buttonId)} />
                </li>
              ))}
            </ul>
          )}
        </section>
      </div>
      <p class="p-help">
        The questions of all conversations, as a watch shows them: a card and at most three buttons.
      </p>
    </div>
  );
}

interface WatchCardProps {
  readonly ask: PendingAsk;
  readonly onPress: (buttonId: string) => void;
}

function WatchCard({ ask, onPress }: WatchCardProps) {
  if (!ask.simple) return null;
  const elsewhere = ask.conversationId !== conversationId.value;
  const enter = () => {
    closePanel();
    open(ask.conversationId);
  };
  return (
    <>
      <CardView
        card={ask.simple}
        disabled={pressed.value.has(ask.toolCallId)}
        handoffHint="More on the phone"
        onPress={({ id }) => onPress(id)}
      />
      {elsewhere && (
        <button type="button" class="p-watch-open" onClick={enter}>
          Open on the phone
        </button>
      )}
    </>
  );
}
