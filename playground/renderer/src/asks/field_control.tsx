/** The fields that are one control: text of all sorts, numbers, dates, and one option of a list. */

import type { FormField } from "@parley/client/v1/asks";
import type { InputHTMLAttributes } from "preact";
import { Counter } from "./counter";
import { UNREADABLE } from "./drafts";
import type { FieldProps } from "./form_fields";
import { offsetAt, toLocal, toMoment } from "./moments";

/** Shows the control. Its label, helper text and problem are around it. */
export function FieldControl(props: FieldProps) {
  switch (props.field.type.case) {
    case "select":
      return <Select {...props} />;
    case "textarea":
      return <TextArea {...props} />;
    case "datetime":
      return <Moment {...props} />;
    default:
      return <Input {...props} />;
  }
}

function Input({ id, field, value, invalid, describedBy, onValue, onLeave }: FieldProps) {
  const read = (input: HTMLInputElement) =>
    // What can't be read as a number or a date has an empty value, as if nothing had been typed.
    onValue(input.validity.badInput ? UNREADABLE : input.value);
  return (
    <input
      {...attributesOf(field.type)}
      class="p-input"
      id={id}
      // A control of one line has no line ends. The draft keeps its own until it is edited.
      value={typeof value === "string" ? value.replace(/[\r\n]/g, "") : ""}
      required={field.required}
      aria-invalid={invalid ? true : undefined}
      aria-describedby={describedBy}
      onInput={(event) => read(event.currentTarget)}
      onBlur={(event) => {
        // Half a date is no input event in every browser.
        if (event.currentTarget.validity.badInput) onValue(UNREADABLE);
        onLeave();
      }}
    />
  );
}

function TextArea({ id, field, value, invalid, describedBy, onValue, onLeave }: FieldProps) {
  const text = typeof value === "string" ? value : "";
  const max = field.type.case === "textarea" ? field.type.value.maxLength : undefined;
  return (
    <>
      <textarea
        class="p-input"
        id={id}
        rows={4}
        value={text.replace(/\r\n?/g, "\n")}
        required={field.required}
        aria-invalid={invalid ? true : undefined}
        aria-describedby={describedBy}
        onInput={(event) => onValue(event.currentTarget.value)}
        onBlur={onLeave}
      />
      {max !== undefined && <Counter length={text.length} max={max} />}
    </>
  );
}

function Select({ id, field, value, invalid, describedBy, onValue, onLeave }: FieldProps) {
  if (field.type.case !== "select") return null;
  return (
    <select
      class="p-input"
      id={id}
      value={typeof value === "string" ? value : ""}
      required={field.required}
      aria-invalid={invalid ? true : undefined}
      aria-describedby={describedBy}
      onChange={(event) => onValue(event.currentTarget.value)}
      onBlur={onLeave}
    >
      <option value="">{field.required ? "Choose…" : "No answer"}</option>
      {field.type.value.options.map((option) => (
        <option key={option.id} value={option.id}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

function Moment({ id, field, value, invalid, describedBy, onValue, onLeave }: FieldProps) {
  const moment = typeof value === "string" ? value : "";
  const here = offsetAt(moment ? new Date(moment) : new Date());
  return (
    <>
      <input
        type="datetime-local"
        class="p-input"
        id={id}
        max="9999-12-31T23:59"
        value={toLocal(moment)}
        required={field.required}
        aria-invalid={invalid ? true : undefined}
        aria-describedby={[describedBy, `${id}-zone`].filter(Boolean).join(" ")}
        onInput={({ currentTarget: input }) =>
          onValue(input.validity.badInput ? UNREADABLE : toMoment(input.value))
        }
        onBlur={({ currentTarget: input }) => {
          if (input.validity.badInput) onValue(UNREADABLE);
          onLeave();
        }}
      />
      <p class="p-helper" id={`${id}-zone`}>
        Your local time, UTC{here}
      </p>
    </>
  );
}

function attributesOf(type: FormField["type"]): InputHTMLAttributes {
  switch (type.case) {
    case "email":
      return { type: "email", inputMode: "email", autoComplete: "email" };
    case "url":
      return { type: "url", inputMode: "url", autoComplete: "url" };
    case "phone":
      return { type: "tel", inputMode: "tel", autoComplete: "tel" };
    case "number": {
      const { min, max, integer = false } = type.value;
      // Many keypads of phones lack the minus sign.
      const signed = min === undefined || min < 0;
      return {
        type: "number",
        step: integer ? 1 : "any",
        ...(min === undefined ? {} : { min }),
        ...(max === undefined ? {} : { max }),
        ...(signed ? {} : { inputMode: integer ? "numeric" : "decimal" }),
      };
    }
    case "date":
      return { type: "date", max: "9999-12-31" };
    case "time":
      return { type: "time" };
    default:
      return { type: "text", autoComplete: "off" };
  }
}
