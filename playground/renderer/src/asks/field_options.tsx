/** The fields that are groups of buttons: yes or no, and several options. */

import type { ComponentChildren } from "preact";
import type { FieldProps } from "./form_fields";

interface FieldOptionsProps extends FieldProps {
  readonly legend: ComponentChildren;
  readonly helper: ComponentChildren;
  /** Is what is wrong. */
  readonly children: ComponentChildren;
}

/** Shows the group. */
export function FieldOptions({ legend, helper, children, ...props }: FieldOptionsProps) {
  const { field, invalid, describedBy } = props;
  const single = field.type.case === "boolean";
  return (
    <fieldset
      class="p-field p-options"
      {...(single && {
        role: "radiogroup",
        "aria-required": field.required === true,
        "aria-invalid": invalid,
      })}
      aria-describedby={describedBy}
      data-problem={invalid ? "" : undefined}
    >
      <legend class="p-label">{legend}</legend>
      {helper}
      {single ? <YesOrNo {...props} /> : <Several {...props} />}
      {children}
    </fieldset>
  );
}

function YesOrNo({ id, field, value, onValue, onLeave }: FieldProps) {
  // A box could not tell "no" from "not answered", and the contract does.
  const answers = [
    { label: "Yes", means: true },
    { label: "No", means: false },
  ];
  return (
    <div class="p-yes-or-no">
      {answers.map(({ label, means }) => (
        <label class="p-option" key={label}>
          <input
            type="radio"
            name={id}
            checked={value === means}
            onChange={() => {
              onValue(means);
              onLeave();
            }}
          />
          <span>{label}</span>
        </label>
      ))}
      {!field.required && value !== undefined && (
        <button
          type="button"
          class="p-button p-button-small p-button-quiet"
          onClick={(event) => {
            onValue(undefined);
            // The button goes away with the answer; the focus stays in the group.
            event.currentTarget.closest("fieldset")?.querySelector("input")?.focus();
          }}
        >
          Clear
        </button>
      )}
    </div>
  );
}

function Several({ field, value, invalid, onValue, onLeave }: FieldProps) {
  const { type } = field;
  if (type.case !== "multiselect") return null;
  const picked: readonly string[] = Array.isArray(value) ? value : [];
  const pick = (optionId: string, on: boolean) => {
    const others = picked.filter((each) => each !== optionId);
    onValue(on ? [...others, optionId] : others);
    onLeave();
  };
  return (
    <>
      {type.value.options.map((option) => (
        <label class="p-option" key={option.id}>
          <input
            type="checkbox"
            value={option.id}
            checked={picked.includes(option.id)}
            aria-invalid={invalid ? true : undefined}
            onChange={(event) => pick(option.id, event.currentTarget.checked)}
          />
          <span dir="auto">{option.label}</span>
        </label>
      ))}
    </>
  );
}
