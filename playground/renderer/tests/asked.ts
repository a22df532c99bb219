/** Questions for tests. */

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type AskInput,
  AskInputSchema,
  ChoiceInput_Select,
  type ChoiceInputSchema,
  type FilesInputSchema,
  type FormFieldSchema,
  type MarkdownInputSchema,
} from "@parley/client/v1/asks";
import { type Draft, firstDraft } from "../src/asks/drafts";

type Kind = MessageInitShape<typeof AskInputSchema>["kind"];

export function asked(kind: Kind): AskInput {
  return create(AskInputSchema, { prompt: "What shall it be?", ...(kind && { kind }) });
}

const options = [
  { id: "train", label: "Night train" },
  { id: "ferry", label: "Ferry" },
  { id: "bus", label: "Coach bus" },
];

export function choice(
  more: Exclude<MessageInitShape<typeof ChoiceInputSchema>, { $typeName: string }> = {},
) {
  return asked({ case: "choice", value: { select: ChoiceInput_Select.MANY, options, ...more } });
}

export function markdown(value: MessageInitShape<typeof MarkdownInputSchema> = {}) {
  return asked({ case: "markdown", value });
}

export function form(...fields: MessageInitShape<typeof FormFieldSchema>[]) {
  return asked({ case: "form", value: { fields } });
}

export function files(value: MessageInitShape<typeof FilesInputSchema>) {
  return asked({ case: "files", value });
}

/** Returns the first draft of an ask that the renderer knows. */
export function begun(input: AskInput): Draft {
  const draft = firstDraft(input);
  if (!draft) throw new Error("The renderer does not know this ask.");
  return draft;
}

/** Returns the draft of a form with other values. */
export function filled(input: AskInput, values: Extract<Draft, { kind: "form" }>["values"]): Draft {
  const draft = begun(input);
  if (draft.kind !== "form") throw new Error("This is no form.");
  return { kind: "form", values: { ...draft.values, ...values } };
}
