/** What was answered, in words. */

import type { Value } from "@bufbuild/protobuf/wkt";
import {
  type AcceptAnswer,
  AskAction,
  type AskAnswer,
  type AskInput,
  type FileRef,
  type FormField,
  type Option,
} from "@parley/client/v1/asks";
import { sizeOf } from "./sizes";

/** A part of an answer with what it answers. */
export interface AnswerLine {
  readonly label: string;
  readonly text: string;
}

const REASONS: Readonly<Record<string, string>> = {
  conversation_deleted: "Dropped: the conversation was deleted",
  expired: "Dropped: nobody answered in time",
  one_ask_at_a_time: "Not asked: another question was open",
  service_cancelled: "Dropped by the service",
  user_sent_message: "Dropped: a message was sent instead",
};

/** Returns an answer as one line, without its question. `action` is what is known without an answer. */
export function answerLine(
  input: AskInput | undefined,
  answer: AskAnswer | undefined,
  action: AskAction,
): string {
  switch (answer?.action.case) {
    case "accept":
      return acceptLine(input, answer.action.value);
    case "decline":
      return "Skipped";
    case "cancel": {
      const { reason } = answer.action.value;
      if (!reason) return "Dismissed";
      return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? "") : `Dropped: ${reason}`;
    }
    default:
      return actionLine(action);
  }
}

/** Tells whether the question got what it asked for: neither skipped, nor dropped, nor denied. */
export function isGranted(answer: AskAnswer | undefined, action: AskAction): boolean {
  if (!answer) return action === AskAction.ACCEPT;
  if (answer.action.case !== "accept") return false;
  const { content } = answer.action.value;
  return content.case !== "confirm" || content.value.confirmed === true;
}

/** Returns the values of an answered form, by the fields' labels and in their order. */
export function formLines(
  input: AskInput | undefined,
  answer: AskAnswer | undefined,
): readonly AnswerLine[] {
  if (answer?.action.case !== "accept" || answer.action.value.content.case !== "form") return [];
  const { values } = answer.action.value.content.value;
  const fields = input?.kind.case === "form" ? input.kind.value.fields : [];
  if (fields.length === 0) {
    return Object.entries(values).map(([label, value]) => ({ label, text: valueText(value, []) }));
  }
  return fields.map((field) => ({ label: field.label, text: fieldText(field, values) }));
}

/** Returns the edited text of an answered markdown ask; undefined for any other. */
export function markdownText(answer: AskAnswer | undefined): string | undefined {
  if (answer?.action.case !== "accept") return undefined;
  const { content } = answer.action.value;
  return content.case === "markdown" ? content.value.markdown : undefined;
}

function actionLine(action: AskAction): string {
  switch (action) {
    case AskAction.ACCEPT:
      return "Answered";
    case AskAction.DECLINE:
      return "Skipped";
    case AskAction.CANCEL:
      return "Dismissed";
    default:
      return "Not answered";
  }
}

function acceptLine(input: AskInput | undefined, { content }: AcceptAnswer): string {
  const kind = input?.kind;
  switch (content.case) {
    case "choice": {
      const { selected, other } = content.value;
      const options = kind?.case === "choice" ? kind.value.options : [];
      const picked = selected.map((id) => labelOf(options, id));
      return joined(other === undefined ? picked : [...picked, `“${other}”`]) || "Nothing picked";
    }
    case "confirm": {
      const labels = kind?.case === "confirm" ? kind.value : undefined;
      return content.value.confirmed
        ? (labels?.confirmLabel ?? "Confirm")
        : (labels?.denyLabel ?? "Cancel");
    }
    case "markdown":
      return content.value.changed ? "Edited and sent" : "Sent without a change";
    case "form": {
      const fields = kind?.case === "form" ? kind.value.fields : [];
      const { values } = content.value;
      const told = fields
        .filter(({ id }) => Object.hasOwn(values, id))
        .map((field) => `${field.label}: ${fieldText(field, values)}`);
      return told.join(" · ") || "Submitted";
    }
    case "files":
      return joined(content.value.files.map(fileText));
    default:
      return "Answered";
  }
}

function fieldText({ id, type }: FormField, values: Readonly<Record<string, Value>>): string {
  const value = Object.hasOwn(values, id) ? values[id] : undefined;
  const options = type.case === "select" || type.case === "multiselect" ? type.value.options : [];
  return value ? valueText(value, options) : "Not answered";
}

function valueText({ kind }: Value, options: readonly Option[]): string {
  switch (kind.case) {
    case "boolValue":
      return kind.value ? "Yes" : "No";
    case "stringValue":
      return labelOf(options, kind.value);
    case "numberValue":
      return String(kind.value);
    case "listValue":
      return joined(kind.value.values.map((value) => valueText(value, options)));
    default:
      return "";
  }
}

function fileText({ filename = "A file", size }: FileRef): string {
  return size === undefined ? filename : `${filename} (${sizeOf(Number(size))})`;
}

function labelOf(options: readonly Option[], id: string): string {
  return options.find((option) => option.id === id)?.label ?? id;
}

function joined(texts: readonly string[]): string {
  return new Intl.ListFormat("en-GB", { type: "conjunction" }).format(texts);
}
