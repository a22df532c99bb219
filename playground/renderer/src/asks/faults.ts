/**
 * What is obviously wrong with a draft, before the server is asked: what is missing, too many, too
 * long. Never stricter than the server; what it alone can tell, such as formats, is left to it.
 */

import type { AskInput, FilesInput, FormField } from "@parley/client/v1/asks";
import {
  boundsOf,
  type ChoiceDraft,
  type Draft,
  type FieldDraft,
  type FilesDraft,
  isBlank,
  UNREADABLE,
} from "./drafts";

/** A fault: the contract's path and code, and what the server says of it where it was asked. */
export interface Fault {
  readonly path: string;
  readonly code: string;
  readonly message?: string;
}

/** A file is still on its way. A code of ours, as is the next: the server never sees such drafts. */
export const UPLOADING = "UPLOADING";
/** A file could not be kept. */
export const UPLOAD_FAILED = "UPLOAD_FAILED";

/** Lengths in UTF-16 units at most, which is what `length` counts. */
export const LIMITS = { other: 500, text: 2000, textarea: 10_000, markdown: 20_000 } as const;

/** Returns the local faults of a draft, in the order of its controls. */
export function faultsOf(input: AskInput, draft: Draft): readonly Fault[] {
  const { kind } = input;
  if (kind.case === "choice" && draft.kind === "choice") {
    return [...choiceFaults(boundsOf(kind.value), draft)];
  }
  if (kind.case === "markdown" && draft.kind === "markdown") {
    const { minLength = 0, maxLength = LIMITS.markdown } = kind.value;
    return [...lengthFaults("content.markdown", draft.text, minLength, maxLength)];
  }
  if (kind.case === "form" && draft.kind === "form") {
    return kind.value.fields.flatMap((field) => [...fieldFaults(field, draft.values[field.id])]);
  }
  if (kind.case === "files" && draft.kind === "files") {
    return [...filesFaults(kind.value, draft)];
  }
  return [];
}

/** Returns how many files an ask takes. */
export function fileBoundsOf(files: FilesInput): { readonly min: number; readonly max: number } {
  return { min: files.minFiles ?? 1, max: files.maxFiles ?? 10 };
}

function* choiceFaults(
  { min, max }: ReturnType<typeof boundsOf>,
  { selected, other }: ChoiceDraft,
): Generator<Fault> {
  const count = selected.length + (other === undefined ? 0 : 1);
  if (count < min || count > max) yield { path: "content.selected", code: "SELECTION_COUNT" };
  if (other === undefined) return;
  yield* lengthFaults("content.other", other, 1, LIMITS.other);
}

function* lengthFaults(path: string, text: string, min: number, max: number): Generator<Fault> {
  if (text.length > max) yield { path, code: "TOO_LONG" };
  if (text.trim().length < min) yield { path, code: "TOO_SHORT" };
}

function* fieldFaults(field: FormField, value: FieldDraft): Generator<Fault> {
  const { type } = field;
  const path = `content.values.${field.id}`;
  if (value === UNREADABLE) {
    yield { path, code: type.case === "number" ? "FIELD_TYPE_MISMATCH" : "INVALID_DATE" };
  } else if (isBlank(value)) {
    if (field.required) yield { path, code: "REQUIRED_FIELD" };
  } else if (typeof value === "string") {
    yield* textFaults(path, type, value);
  }
}

function* textFaults(path: string, type: FormField["type"], text: string): Generator<Fault> {
  switch (type.case) {
    case "text":
    case "textarea": {
      const { minLength = 0, maxLength = LIMITS[type.case] } = type.value;
      yield* lengthFaults(path, text, minLength, maxLength);
      return;
    }
    case "email":
    case "url":
    case "phone":
      yield* lengthFaults(path, text, 0, LIMITS.text);
      return;
    case "number": {
      const number = Number(text);
      const { min = -Infinity, max = Infinity, integer = false } = type.value;
      if (!Number.isFinite(number) || (integer && !Number.isInteger(number))) {
        yield { path, code: "FIELD_TYPE_MISMATCH" };
      } else if (number < min || number > max) {
        yield { path, code: "OUT_OF_RANGE" };
      }
    }
  }
}

function* filesFaults(input: FilesInput, { files }: FilesDraft): Generator<Fault> {
  const { min, max } = fileBoundsOf(input);
  if (files.length < min || files.length > max) yield { path: "content.files", code: "FILE_COUNT" };
  for (const [index, { state }] of files.entries()) {
    if (state.is === "kept") continue;
    const code = state.is === "failed" ? UPLOAD_FAILED : UPLOADING;
    yield { path: `content.files[${index}]`, code };
  }
}
