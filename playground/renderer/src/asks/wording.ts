/** What a person reads of a fault. The server's own words are for those who write clients. */

import type { AskInput, FormField } from "@parley/client/v1/asks";
import { boundsOf } from "./drafts";
import { type Fault, fileBoundsOf, LIMITS, UPLOAD_FAILED, UPLOADING } from "./faults";
import { nounsOf } from "./file_types";

/** Returns what is wrong, as one sentence. */
export function sentenceOf(input: AskInput, fault: Fault): string {
  const { kind } = input;
  const field =
    kind.case === "form"
      ? kind.value.fields.find(({ id }) => fault.path === `content.values.${id}`)
      : undefined;
  if (field) {
    const said = ofField(field, fault.code);
    if (said) return said;
  }
  switch (fault.code) {
    case "SELECTION_COUNT":
      if (kind.case === "choice") return `${pickOf(boundsOf(kind.value))}.`;
      break;
    case "TOO_LONG":
      if (fault.path === "content.other") return tooLong(LIMITS.other);
      if (kind.case === "markdown") return tooLong(kind.value.maxLength ?? LIMITS.markdown);
      break;
    case "TOO_SHORT":
      if (fault.path === "content.other") return "Write your own answer.";
      if (kind.case === "markdown") return tooShort(kind.value.minLength ?? 0);
      break;
    case "OPTION_NOT_OFFERED":
    case "DUPLICATE_ID":
      return "Pick from the list, each option once.";
    case "FILE_COUNT":
      if (kind.case === "files") return `${filesOf(fileBoundsOf(kind.value))}.`;
      break;
    case "FILE_TYPE_NOT_ACCEPTED":
      if (kind.case === "files") return `Only ${nounsOf(kind.value)} can be added here.`;
      break;
    case "FILE_TOO_LARGE":
      return "This file is too large.";
    case "MIME_MISMATCH":
      return "What is in this file is not what its name says.";
    case "FILE_NOT_OWNED":
      return "This file is gone. Remove it and add it again.";
    case "DECLINE_NOT_ALLOWED":
      return "This question can't be skipped.";
    case UPLOADING:
      return "Wait until this file is uploaded.";
    case UPLOAD_FAILED:
      return "Try this file again, or remove it.";
  }
  return fault.message || "This does not fit the question.";
}

/** Returns how many options to pick, as "Choose 1 to 3". */
export function pickOf({ min, max }: { readonly min: number; readonly max: number }): string {
  if (min === max) return `Choose ${min === 1 ? "one" : min}`;
  return min === 0 ? `Choose up to ${max}` : `Choose ${min} to ${max}`;
}

/** Returns how many files to add, as "Add 1 to 3 files". */
export function filesOf({ min, max }: { readonly min: number; readonly max: number }): string {
  if (min === max) return min === 1 ? "Add one file" : `Add ${min} files`;
  return `Add ${min} to ${max} files`;
}

function ofField({ required, type }: FormField, code: string): string | undefined {
  switch (code) {
    case "REQUIRED_FIELD":
      if (type.case === "select" || type.case === "multiselect") return "Choose an option.";
      return type.case === "boolean" ? "Choose Yes or No." : "Fill this in.";
    case "TOO_LONG":
      if (type.case === "text" || type.case === "textarea") {
        return tooLong(type.value.maxLength ?? LIMITS[type.case]);
      }
      return tooLong(LIMITS.text);
    case "TOO_SHORT":
      if (type.case === "text" || type.case === "textarea") {
        const sentence = tooShort(type.value.minLength ?? 0);
        return required ? sentence : `${sentence.slice(0, -1)}, or leave it empty.`;
      }
      return undefined;
    case "OUT_OF_RANGE":
      return type.case === "number" ? rangeOf(type.value) : undefined;
    case "INVALID_DATE":
      if (type.case === "time") return "Enter a time, hours and minutes.";
      return type.case === "datetime" ? "Enter a whole date and a time." : "Enter a whole date.";
    case "FIELD_TYPE_MISMATCH":
      return mismatch(type);
    default:
      return undefined;
  }
}

function mismatch(type: FormField["type"]): string | undefined {
  switch (type.case) {
    case "email":
      return "Enter an email address, as in ines@example.org.";
    case "url":
      return "Enter a web address, as in https://example.org.";
    case "phone":
      return "Enter a phone number of 7 to 15 digits, as in +351 21 555 0100.";
    case "number":
      return type.value.integer ? "Enter a whole number." : "Enter a number.";
    default:
      return undefined;
  }
}

function rangeOf({ min, max }: { min?: number | undefined; max?: number | undefined }): string {
  if (min === undefined) return `Enter ${max} or less.`;
  return max === undefined ? `Enter ${min} or more.` : `Enter ${min} to ${max}.`;
}

function tooLong(max: number): string {
  return `Shorten this to ${grouped(max)} characters.`;
}

function tooShort(min: number): string {
  return `Write at least ${grouped(min)} ${min === 1 ? "character" : "characters"}.`;
}

/** Returns a number as text, its thousands apart. */
export function grouped(number: number): string {
  return new Intl.NumberFormat("en-GB").format(number);
}
