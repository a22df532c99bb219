/** What a person has filled in so far. Plain values, so that they can be compared and tested. */

import {
  type AskInput,
  type ChoiceInput,
  ChoiceInput_Select,
  type FileRef,
  type FormField,
} from "@parley/client/v1/asks";
import { knownTypes } from "./file_types";

/** An answer in the making. A confirm has none: its buttons answer at once. */
export type Draft = ChoiceDraft | MarkdownDraft | FormDraft | FilesDraft;

export interface ChoiceDraft {
  readonly kind: "choice";
  readonly selected: readonly string[];
  /** Is the person's own answer; undefined while Other is not picked. */
  readonly other: string | undefined;
}

export interface MarkdownDraft {
  readonly kind: "markdown";
  readonly text: string;
}

export interface FormDraft {
  readonly kind: "form";
  readonly values: Readonly<Record<string, FieldDraft>>;
}

export interface FilesDraft {
  readonly kind: "files";
  readonly files: readonly FileDraft[];
}

/** Stands for what was typed into a number or a date control that can't be read as either. */
export const UNREADABLE = Symbol("unreadable");

/**
 * What a field of a form holds: text as it was typed (a number too), yes or no, picked options.
 * Undefined and what is blank are no answer.
 */
export type FieldDraft = string | boolean | readonly string[] | typeof UNREADABLE | undefined;

/** A file that was picked. */
export interface FileDraft {
  /** Tells files of one draft apart; names may repeat. */
  readonly key: number;
  readonly name: string;
  readonly bytes: number;
  readonly state:
    | { readonly is: "uploading" }
    | { readonly is: "kept"; readonly ref: FileRef }
    | { readonly is: "failed"; readonly why: string };
}

/**
 * Returns what an ask begins with: its defaults. Undefined for what is newer than this renderer: an
 * unknown kind, a field of an unknown type, a list of file types none of which is known.
 */
export function firstDraft({ kind }: AskInput): Draft | undefined {
  switch (kind.case) {
    case "choice":
      if (!(kind.value.select in ChoiceInput_Select) || !kind.value.select) return undefined;
      return { kind: "choice", selected: kind.value.default, other: undefined };
    case "markdown":
      return { kind: "markdown", text: kind.value.initial ?? "" };
    case "form":
      if (kind.value.fields.some((field) => field.type.case === undefined)) return undefined;
      return {
        kind: "form",
        values: Object.fromEntries(kind.value.fields.map((field) => [field.id, firstValue(field)])),
      };
    case "files":
      return knownTypes(kind.value).length > 0 ? { kind: "files", files: [] } : undefined;
    default:
      return undefined;
  }
}

/** Returns how many picks a choice takes; Other counts as one. */
export function boundsOf(choice: ChoiceInput): { readonly min: number; readonly max: number } {
  if (choice.select === ChoiceInput_Select.ONE) return { min: 1, max: 1 };
  const offered = choice.options.length + (choice.allowOther ? 1 : 0);
  return { min: choice.minSelected ?? 1, max: choice.maxSelected ?? offered };
}

/** Tells whether nothing was filled in. `false` and `0` are answers. */
export function isBlank(value: FieldDraft): boolean {
  if (value === undefined) return true;
  // JavaScript trims exactly the white space that the contract counts as such.
  if (typeof value === "string") return value.trim() === "";
  return Array.isArray(value) && value.length === 0;
}

function firstValue({ type }: FormField): FieldDraft {
  switch (type.case) {
    case "number":
      return type.value.default === undefined ? "" : String(type.value.default);
    case "boolean":
      return type.value.default;
    case "multiselect":
      return type.value.default?.values ?? [];
    case undefined:
      return undefined;
    default:
      return type.value.default ?? "";
  }
}
