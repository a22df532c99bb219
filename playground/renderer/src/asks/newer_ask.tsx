/** A question of a kind that is newer than this renderer: its card, which every question has. */

import type { SimpleCardButton } from "@parley/client/v1/cards";
import { CardView } from "../cards/card_view";
import { CANCEL } from "./answers";
import type { AskFormProps } from "./ask_form";
import { useSending } from "./use_sending";

/** Shows the question's card. */
export function NewerAsk({ ask, host }: AskFormProps) {
  const sending = useSending();
  const press = (button: SimpleCardButton) =>
    sending.run(async () => {
      await host.press(button);
      return true;
    });
  const drop = () => sending.run(async () => (await host.answer(CANCEL)).length === 0);
  const buttons = ask.simple?.buttons.length ?? 0;
  return (
    <section class="p-ask" aria-label="A question of a newer kind">
      <p class="p-ask-newer">
        {buttons > 0
          ? "This question is of a kind that this page does not know yet. These buttons answer it:"
          : "This question is of a kind that this page does not know yet. Answer it in a newer app."}
      </p>
      {ask.simple && (
        <CardView
          card={ask.simple}
          disabled={!sending.open}
          onPress={press}
          handoffHint="A newer app has more answers"
        />
      )}
      <div class="p-ask-actions">
        <button type="button" class="p-button" disabled={!sending.open} onClick={drop}>
          Dismiss
        </button>
      </div>
      {sending.failure && (
        <p class="p-problem" role="alert">
          {sending.failure}
        </p>
      )}
    </section>
  );
}
