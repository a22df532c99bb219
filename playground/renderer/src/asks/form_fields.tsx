/** The fields of a form. */

import type { FormField, FormInput } from "@parley/client/v1/asks";
import { useId } from "preact/hooks";
import type { FieldDraft, FormDraft } from "./drafts";
import { FieldControl } from "./field_control";
import { FieldOptions } from "./field_options";
import { type Controls, describedBy, Problem } from "./problem";

interface FormFieldsProps extends Controls {
  readonly form: FormInput;
  readonly draft: FormDraft;
  readonly onDraft: (draft: FormDraft) => void;
}

/** What the control of a field is drawn with. */
export interface FieldProps {
  /** Is the control's id, which its label names. */
  readonly id: string;
  readonly field: FormField;
  readonly value: FieldDraft;
  readonly invalid: boolean;
  readonly describedBy: string | undefined;
  readonly onValue: (value: FieldDraft) => void;
  /** Is called when the person leaves the control. */
  readonly onLeave: () => void;
}

/** Shows the fields in their order, each with its label, helper text and problem. */
export function FormFields({ form, draft, onDraft, problemAt, touch }: FormFieldsProps) {
  return (
    <>
      {form.fields.map((field) => {
        const place = `content.values.${field.id}`;
        return (
          <Field
            key={field.id}
            field={field}
            value={draft.values[field.id]}
            problem={problemAt(place)}
            onValue={(value) =>
              onDraft({ kind: "form", values: { ...draft.values, [field.id]: value } })
            }
            onLeave={() => touch(place)}
          />
        );
      })}
    </>
  );
}

interface OneFieldProps extends Pick<FieldProps, "field" | "value" | "onValue" | "onLeave"> {
  readonly problem: string;
}

function Field({ field, problem, ...rest }: OneFieldProps) {
  const id = useId();
  const props: FieldProps = {
    ...rest,
    id,
    field,
    invalid: problem !== "",
    describedBy: describedBy(field.helperText && `${id}-helper`, problem && `${id}-problem`),
  };
  const { case: type } = field.type;
  const words = (
    <>
      <span dir="auto">{field.label}</span>
      {!field.required && <span class="p-optional"> (optional)</span>}
    </>
  );
  const helper = field.helperText && (
    <p class="p-helper" id={`${id}-helper`} dir="auto">
      {field.helperText}
    </p>
  );
  if (type === "boolean" || type === "multiselect") {
    return (
      <FieldOptions {...props} legend={words} helper={helper}>
        <Problem id={`${id}-problem`} text={problem} />
      </FieldOptions>
    );
  }
  return (
    <div class="p-field" data-problem={problem ? "" : undefined}>
      <label class="p-label" for={id}>
        {words}
      </label>
      {helper}
      <FieldControl {...props} />
      <Problem id={`${id}-problem`} text={problem} />
    </div>
  );
}
