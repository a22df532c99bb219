import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { type AskInput, ChoiceInput_Select, FileRefSchema } from "@parley/client/v1/asks";
import { type Draft, type FieldDraft, UNREADABLE } from "../src/asks/drafts";
import { faultsOf } from "../src/asks/faults";
import { byPlace, placesOf } from "../src/asks/places";
import { sentenceOf } from "../src/asks/wording";
import { begun, choice, files, filled, form, markdown } from "./asked";

const codes = (input: AskInput, draft: Draft) =>
  faultsOf(input, draft).map(({ path, code }) => `${path} ${code}`);

const picked = (selected: readonly string[], other?: string): Draft => ({
  kind: "choice",
  selected,
  other,
});

test("a choice counts its picks, Other among them", () => {
  const wrong = ["content.selected SELECTION_COUNT"];
  const one = choice({ select: ChoiceInput_Select.ONE });
  assert.deepEqual(codes(one, picked([])), wrong);
  assert.deepEqual(codes(one, picked(["bus"])), []);
  const several = choice({ minSelected: 2, maxSelected: 3, allowOther: true });
  assert.deepEqual(codes(several, picked(["bus"])), wrong);
  assert.deepEqual(codes(several, picked(["bus"], "bike")), []);
  assert.deepEqual(codes(several, picked(["bus", "train", "ferry"], "bike")), wrong);
  assert.deepEqual(codes(choice({ minSelected: 0 }), picked([])), []);
});

test("an answer of one's own is neither blank nor too long", () => {
  const input = choice({ allowOther: true });
  assert.deepEqual(codes(input, picked([], " \u{FEFF}")), ["content.other TOO_SHORT"]);
  assert.deepEqual(codes(input, picked([], "😀".repeat(250))), []);
  assert.deepEqual(codes(input, picked([], "😀".repeat(251))), ["content.other TOO_LONG"]);
});

test("a text is counted in UTF-16 units: trimmed for the least, whole for the most", () => {
  const input = markdown({ minLength: 3, maxLength: 5 });
  const write = (text: string): Draft => ({ kind: "markdown", text });
  assert.deepEqual(codes(input, write(" ab  ")), ["content.markdown TOO_SHORT"]);
  assert.deepEqual(codes(input, write("abc  ")), []);
  assert.deepEqual(codes(input, write("😀😀😀")), ["content.markdown TOO_LONG"]);
  assert.deepEqual(codes(input, write("a     ")), [
    "content.markdown TOO_LONG",
    "content.markdown TOO_SHORT",
  ]);
});

test("a field's obvious faults are found", () => {
  const cases: [string, Parameters<typeof form>[0]["type"], FieldDraft, string][] = [
    ["text within bounds", { case: "text", value: { minLength: 2, maxLength: 3 } }, "abc", ""],
    ["text too short", { case: "text", value: { minLength: 2 } }, " a ", "TOO_SHORT"],
    ["text too long", { case: "text", value: { maxLength: 2 } }, "abc", "TOO_LONG"],
    ["text above the cap", { case: "text", value: {} }, "a".repeat(2001), "TOO_LONG"],
    ["textarea below its cap", { case: "textarea", value: {} }, "a".repeat(10_000), ""],
    ["email above the cap", { case: "email", value: {} }, "a".repeat(2001), "TOO_LONG"],
    ["email of any form", { case: "email", value: {} }, "nobody", ""],
    ["number below", { case: "number", value: { min: 2 } }, "1.5", "OUT_OF_RANGE"],
    ["number above", { case: "number", value: { max: 2 } }, "2.5", "OUT_OF_RANGE"],
    ["number at its bound", { case: "number", value: { min: 0, max: 0 } }, "0", ""],
    ["half a number", { case: "number", value: { integer: true } }, "2.5", "FIELD_TYPE_MISMATCH"],
    ["whole number", { case: "number", value: { integer: true } }, "2.0", ""],
    ["no number", { case: "number", value: {} }, UNREADABLE, "FIELD_TYPE_MISMATCH"],
    ["half a date", { case: "date", value: {} }, UNREADABLE, "INVALID_DATE"],
    ["no", { case: "boolean", value: {} }, false, ""],
    ["blank", { case: "text", value: { minLength: 5 } }, "  ", "REQUIRED_FIELD"],
    ["nothing", { case: "boolean", value: {} }, undefined, "REQUIRED_FIELD"],
    ["empty list", { case: "multiselect", value: {} }, [], "REQUIRED_FIELD"],
  ];
  for (const [name, type, value, code] of cases) {
    const input = form({ id: "it", label: "It", required: true, ...(type && { type }) });
    const expected = code ? [`content.values.it ${code}`] : [];
    assert.deepEqual(codes(input, filled(input, { it: value })), expected, name);
  }
});

test("an optional field may be left empty, whatever its bounds", () => {
  const input = form({ id: "it", label: "It", type: { case: "text", value: { minLength: 5 } } });
  assert.deepEqual(codes(input, begun(input)), []);
});

test("files are counted, and none may be on its way", () => {
  const input = files({ accept: ["pdf"], maxFiles: 2 });
  const ref = create(FileRefSchema, {});
  const kept = { name: "a", bytes: 1, state: { is: "kept", ref } } as const;
  const sent = { name: "b", bytes: 1, state: { is: "uploading" } } as const;
  const lost = { name: "c", bytes: 1, state: { is: "failed", why: "Too large." } } as const;
  const list = (
    ...each: Omit<Extract<Draft, { kind: "files" }>["files"][number], "key">[]
  ): Draft => ({
    kind: "files",
    files: each.map((file, key) => ({ ...file, key })),
  });
  assert.deepEqual(codes(input, list()), ["content.files FILE_COUNT"]);
  assert.deepEqual(codes(input, list(kept, kept)), []);
  assert.deepEqual(codes(input, list(kept, sent)), ["content.files[1] UPLOADING"]);
  assert.deepEqual(codes(input, list(lost, kept, kept)), [
    "content.files FILE_COUNT",
    "content.files[0] UPLOAD_FAILED",
  ]);
});

test("a fault belongs to the control whose path begins its own", () => {
  const places = ["content.files[1]", "content.files[0]", "content.files", "content.values.a"];
  const paths = [
    "content.files[1].mimeType",
    "content.files",
    "content.files[10].size",
    "content.values.ab",
    "action",
  ];
  const placed = byPlace(
    paths.map((path) => ({ path, code: "ANY" })),
    places,
  );
  const found = Object.fromEntries(
    [...placed].map(([at, faults]) => [at, faults.map((f) => f.path)]),
  );
  assert.deepEqual(found, {
    "content.files[1]": ["content.files[1].mimeType"],
    "content.files": ["content.files", "content.files[10].size"],
    "": ["content.values.ab", "action"],
  });
});

test("a fault of Other is the question's while Other is not picked", () => {
  assert.deepEqual(placesOf(choice(), picked([])), ["content.selected"]);
  assert.deepEqual(placesOf(choice(), picked([], "")), ["content.selected", "content.other"]);
});

test("every local fault has words of its own", () => {
  const field = { id: "it", label: "It", required: true } as const;
  const mail = form({ ...field, type: { case: "email", value: {} } });
  const seats = form({ ...field, type: { case: "number", value: { min: 1, max: 8 } } });
  const day = form({ ...field, type: { case: "datetime", value: {} } });
  const note = form({ id: "it", label: "It", type: { case: "text", value: { minLength: 2 } } });
  const at = "content.values.it";
  const said: [AskInput, string, string, string][] = [
    [mail, at, "FIELD_TYPE_MISMATCH", "Enter an email address, as in ines@example.org."],
    [mail, at, "REQUIRED_FIELD", "Fill this in."],
    [seats, at, "OUT_OF_RANGE", "Enter 1 to 8."],
    [day, at, "INVALID_DATE", "Enter a whole date and a time."],
    [note, at, "TOO_SHORT", "Write at least 2 characters, or leave it empty."],
    [choice({ maxSelected: 2 }), "content.selected", "SELECTION_COUNT", "Choose 1 to 2."],
    [markdown(), "content.markdown", "TOO_LONG", "Shorten this to 20,000 characters."],
    [files({ accept: ["pdf"], maxFiles: 1 }), "content.files", "FILE_COUNT", "Add one file."],
  ];
  for (const [input, path, code, sentence] of said) {
    assert.equal(sentenceOf(input, { path, code, message: "The server's words." }), sentence);
  }
});

test("a fault that is newer than the renderer is told in the server's words", () => {
  const fault = { path: "content.markdown", code: "TOO_RUDE", message: "Mind your tone." };
  assert.equal(sentenceOf(markdown(), fault), "Mind your tone.");
});
