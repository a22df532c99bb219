/** The answers that drafts make. */

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type AcceptAnswerSchema,
  type AskAnswer,
  AskAnswerSchema,
  type AskInput,
  type FileRef,
  type FormField,
} from "@parley/client/v1/asks";
import { type Draft, type FieldDraft, type FormDraft, isBlank, UNREADABLE } from "./drafts";

/** Skips the question. */
export const DECLINE: AskAnswer = create(AskAnswerSchema, {
  action: { case: "decline", value: {} },
});

/** Drops the question, without a reason. */
export const CANCEL: AskAnswer = create(AskAnswerSchema, { action: { case: "cancel", value: {} } });

/** Approves or denies. */
export function confirmAnswer(confirmed: boolean): AskAnswer {
  return accept({ case: "confirm", value: { confirmed } });
}

/**
 * Returns the answer that a draft of this ask makes, whether or not the server would take it. What
 * was typed goes as it is, untrimmed; what is blank is left out; so are files that are not kept.
 */
export function answerOf(input: AskInput, draft: Draft): AskAnswer {
  switch (draft.kind) {
    case "choice": {
      const { selected, other } = draft;
      const value =
        other === undefined ? { selected: [...selected] } : { selected: [...selected], other };
      return accept({ case: "choice", value });
    }
    case "markdown": {
      const initial = input.kind.case === "markdown" ? (input.kind.value.initial ?? "") : "";
      const value = { markdown: draft.text, changed: draft.text !== initial };
      return accept({ case: "markdown", value });
    }
    case "form": {
      const fields = input.kind.case === "form" ? input.kind.value.fields : [];
      return accept({ case: "form", value: { values: formValues(fields, draft) } });
    }
    case "files": {
      const files = draft.files.flatMap(({ state }) => (state.is === "kept" ? [state.ref] : []));
      return accept({ case: "files", value: { files: files satisfies FileRef[] } });
    }
  }
}

function accept(
  content: NonNullable<MessageInitShape<typeof AcceptAnswerSchema>["content"]>,
): AskAnswer {
  return create(AskAnswerSchema, { action: { case: "accept", value: { content } } });
}

function formValues(fields: readonly FormField[], { values }: FormDraft): Record<string, Value> {
  const answered = fields.filter(({ id }) => !isBlank(values[id]) && values[id] !== UNREADABLE);
  return Object.fromEntries(
    answered.map((field) => [field.id, protoValue(field, values[field.id])]),
  );
}

function protoValue({ type }: FormField, value: FieldDraft): Value {
  if (typeof value === "boolean") {
    return create(ValueSchema, { kind: { case: "boolValue", value } });
  }
  if (typeof value === "string") {
    return type.case === "number"
      ? create(ValueSchema, { kind: { case: "numberValue", value: Number(value) } })
      : text(value);
  }
  const picked = Array.isArray(value) ? value.map(text) : [];
  return create(ValueSchema, { kind: { case: "listValue", value: { values: picked } } });
}

function text(value: string): Value {
  return create(ValueSchema, { kind: { case: "stringValue", value } });
}
