/** The controls of a choice. */

import type { ChoiceInput } from "@parley/client/v1/asks";
import { Counter } from "./counter";
import { boundsOf, type ChoiceDraft } from "./drafts";
import { LIMITS } from "./faults";
import { type Controls, describedBy, Problem } from "./problem";
import { pickOf } from "./wording";

interface ChoiceFieldsProps extends Controls {
  readonly id: string;
  readonly choice: ChoiceInput;
  readonly draft: ChoiceDraft;
  readonly onDraft: (draft: ChoiceDraft) => void;
}

const PLACE = "content.selected";

/** Shows the options: radio buttons where exactly one is due, else boxes; and Other, if it is on offer. */
export function ChoiceFields({ id, choice, draft, onDraft, ...controls }: ChoiceFieldsProps) {
  const { problemAt, touch } = controls;
  const bounds = boundsOf(choice);
  const single = bounds.min === 1 && bounds.max === 1;
  const problem = problemAt(PLACE);
  const pick = (optionId: string, on: boolean) => {
    const others = single ? [] : draft.selected.filter((each) => each !== optionId);
    const other = single ? undefined : draft.other;
    onDraft({ kind: "choice", selected: on ? [...others, optionId] : others, other });
    touch(PLACE);
  };
  const pickOther = (on: boolean) => {
    onDraft({
      kind: "choice",
      selected: single && on ? [] : draft.selected,
      other: on ? "" : undefined,
    });
    touch(PLACE);
  };
  const type = single ? "radio" : "checkbox";
  const invalid = !single && problem ? true : undefined;
  return (
    <fieldset
      class="p-options"
      {...(single && { role: "radiogroup", "aria-invalid": problem !== "" })}
      aria-labelledby={`${id}-prompt ${id}-bounds`}
      aria-describedby={describedBy(problem && `${id}-problem`)}
      data-problem={problem ? "" : undefined}
    >
      <legend id={`${id}-bounds`}>{pickOf(bounds)}</legend>
      {choice.options.map((option) => (
        <label class="p-option" key={option.id}>
          <input
            type={type}
            name={id}
            value={option.id}
            checked={draft.selected.includes(option.id)}
            aria-invalid={invalid}
            aria-labelledby={`${id}-${option.id}-label`}
            aria-describedby={describedBy(option.description && `${id}-${option.id}`)}
            onChange={(event) => pick(option.id, event.currentTarget.checked)}
          />
          <span class="p-option-words">
            <span id={`${id}-${option.id}-label`} dir="auto">
              {option.label}
            </span>
            {option.description && (
              <span class="p-option-more" id={`${id}-${option.id}`} dir="auto">
                {option.description}
              </span>
            )}
          </span>
        </label>
      ))}
      {choice.allowOther && (
        <label class="p-option">
          <input
            type={type}
            name={id}
            checked={draft.other !== undefined}
            aria-invalid={invalid}
            onChange={(event) => pickOther(event.currentTarget.checked)}
          />
          <span dir="auto">{choice.otherLabel ?? "Other"}</span>
        </label>
      )}
      <Problem id={`${id}-problem`} text={problem} />
      {draft.other !== undefined && (
        <Other
          id={`${id}-other`}
          label={choice.otherLabel ?? "Other"}
          text={draft.other}
          onText={(other) => onDraft({ ...draft, other })}
          {...controls}
        />
      )}
    </fieldset>
  );
}

interface OtherProps extends Controls {
  readonly id: string;
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
}

function Other({ id, label, text, onText, problemAt, touch }: OtherProps) {
  const problem = problemAt("content.other");
  return (
    <div class="p-field p-other" data-problem={problem ? "" : undefined}>
      <input
        type="text"
        class="p-input"
        aria-label={`${label}: your own answer`}
        placeholder="Your own answer"
        value={text}
        aria-required="true"
        aria-invalid={problem ? true : undefined}
        aria-describedby={describedBy(problem && `${id}-problem`)}
        onInput={(event) => onText(event.currentTarget.value)}
        onBlur={() => touch("content.other")}
      />
      {text.length > LIMITS.other && <Counter length={text.length} max={LIMITS.other} />}
      <Problem id={`${id}-problem`} text={problem} />
    </div>
  );
}
