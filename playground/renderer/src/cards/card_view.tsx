/** What a client shows that knows no kinds of questions: a watch, or one that is too old. */

import {
  type SimpleCard,
  type SimpleCardButton,
  SimpleCardButton_Style,
} from "@parley/client/v1/cards";

/** What a card is drawn with. */
export interface CardViewProps {
  readonly card: SimpleCard;
  /** Says that no button may be pressed now. */
  readonly disabled?: boolean;
  readonly onPress: (button: SimpleCardButton) => void;
  /** Says where there are more answers, if the card hands off; "Continue on your phone" if not given. */
  readonly handoffHint?: string;
}

const STYLES: Readonly<Partial<Record<SimpleCardButton_Style, string>>> = {
  [SimpleCardButton_Style.PRIMARY]: "p-button-primary",
  [SimpleCardButton_Style.DESTRUCTIVE]: "p-button-danger",
  [SimpleCardButton_Style.CANCEL]: "p-button-quiet",
};

/** Shows a card. It fits 198 × 242 pixels, and scrolls there where letters are wide. */
export function CardView({ card, disabled = false, onPress, handoffHint }: CardViewProps) {
  return (
    <article class="p-card">
      {card.title && (
        <p class="p-card-title" dir="auto">
          {card.title}
        </p>
      )}
      <p class="p-card-text" dir="auto">
        {card.text}
      </p>
      {card.buttons.length > 0 && (
        <div class="p-card-buttons">
          {card.buttons.map((button) => (
            <button
              key={button.id}
              type="button"
              class={`p-button ${STYLES[button.style] ?? ""}`}
              disabled={disabled}
              onClick={() => onPress(button)}
            >
              {button.label}
            </button>
          ))}
        </div>
      )}
      {card.handoff && <p class="p-card-handoff">{handoffHint ?? "Continue on your phone"}</p>}
    </article>
  );
}
