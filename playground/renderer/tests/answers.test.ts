import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toJson } from "@bufbuild/protobuf";
import {
  AcceptAnswerSchema,
  type AskInput,
  ChoiceInput_Select,
  FileRefSchema,
} from "@parley/client/v1/asks";
import { answerOf } from "../src/asks/answers";
import { type Draft, firstDraft, UNREADABLE } from "../src/asks/drafts";
import { asked, begun, choice, files, filled, form, markdown } from "./asked";

/** Returns the content of the answer as JSON, as it goes to the server. */
function content(input: AskInput, draft: Draft): unknown {
  const { action } = answerOf(input, draft);
  assert.ok(action.case === "accept");
  return toJson(AcceptAnswerSchema, action.value);
}

test("a choice begins with its default", () => {
  const input = choice({ default: ["bus", "train"] });
  assert.deepEqual(content(input, begun(input)), { choice: { selected: ["bus", "train"] } });
});

test("an answer of one's own is left out until Other is picked", () => {
  const input = choice({ allowOther: true });
  const picked: Draft = { kind: "choice", selected: ["bus"], other: " by bike " };
  assert.deepEqual(content(input, begun(input)), { choice: {} });
  assert.deepEqual(content(input, picked), { choice: { selected: ["bus"], other: " by bike " } });
});

test("a draft that was not touched says so, and keeps its line ends", () => {
  const input = markdown({ initial: "One\r\ntwo" });
  const edited: Draft = { kind: "markdown", text: "One\ntwo" };
  assert.deepEqual(content(input, begun(input)), {
    markdown: { markdown: "One\r\ntwo", changed: false },
  });
  assert.deepEqual(content(input, edited), { markdown: { markdown: "One\ntwo", changed: true } });
});

test("an absent draft counts as the empty text", () => {
  assert.deepEqual(content(markdown(), { kind: "markdown", text: "" }), {
    markdown: { markdown: "", changed: false },
  });
});

test("each field's value has its own type", () => {
  const options = [
    { id: "red", label: "Red" },
    { id: "blue", label: "Blue" },
  ];
  const input = form(
    { id: "constructor", label: "Name", type: { case: "text", value: {} } },
    { id: "guests", label: "Guests", type: { case: "number", value: {} } },
    { id: "patio", label: "Patio", type: { case: "boolean", value: {} } },
    { id: "one", label: "One", type: { case: "select", value: { options } } },
    { id: "several", label: "Several", type: { case: "multiselect", value: { options } } },
  );
  const draft = filled(input, {
    constructor: " Ines ",
    guests: "4.5",
    patio: false,
    one: "red",
    several: ["blue", "red"],
  });
  assert.deepEqual(content(input, draft), {
    form: {
      values: {
        constructor: " Ines ",
        guests: 4.5,
        patio: false,
        one: "red",
        several: ["blue", "red"],
      },
    },
  });
});

test("what is blank or can't be read is no value; no and zero are", () => {
  const input = form(
    { id: "name", label: "Name", type: { case: "text", value: {} } },
    { id: "several", label: "Several", type: { case: "multiselect", value: {} } },
    { id: "day", label: "Day", type: { case: "date", value: {} } },
    { id: "patio", label: "Patio", type: { case: "boolean", value: {} } },
    { id: "guests", label: "Guests", type: { case: "number", value: {} } },
  );
  const draft = filled(input, { name: "\u3000\t", day: UNREADABLE, guests: "0" });
  assert.deepEqual(content(input, draft), { form: { values: { guests: 0 } } });
});

test("defaults of a form are its first values", () => {
  const input = form(
    { id: "guests", label: "Guests", type: { case: "number", value: { default: 0 } } },
    { id: "patio", label: "Patio", type: { case: "boolean", value: { default: false } } },
    {
      id: "tags",
      label: "Tags",
      type: { case: "multiselect", value: { default: { values: ["a"] } } },
    },
    { id: "mail", label: "Mail", type: { case: "email", value: { default: "ines@example.org" } } },
  );
  assert.deepEqual(content(input, begun(input)), {
    form: { values: { guests: 0, patio: false, tags: ["a"], mail: "ines@example.org" } },
  });
});

test("only files that are kept are answered, in the person's order", () => {
  const input = files({ accept: ["pdf"] });
  const ref = (fileId: string) =>
    create(FileRefSchema, {
      filename: `${fileId}.pdf`,
      mimeType: "application/pdf",
      size: 7n,
      source: { case: "fileId", value: fileId },
    });
  const draft: Draft = {
    kind: "files",
    files: [
      { key: 2, name: "b.pdf", bytes: 7, state: { is: "kept", ref: ref("b") } },
      { key: 3, name: "c.pdf", bytes: 7, state: { is: "uploading" } },
      { key: 1, name: "a.pdf", bytes: 7, state: { is: "kept", ref: ref("a") } },
    ],
  };
  const file = { mimeType: "application/pdf", size: "7" };
  assert.deepEqual(content(input, draft), {
    files: {
      files: [
        { ...file, filename: "b.pdf", fileId: "b" },
        { ...file, filename: "a.pdf", fileId: "a" },
      ],
    },
  });
});

test("what is newer than the renderer has no draft", () => {
  const unknown = {
    "a kind": asked({ case: undefined }),
    "a way to select": choice({ select: 7 as ChoiceInput_Select }),
    "no way to select": choice({ select: ChoiceInput_Select.UNSPECIFIED }),
    "a type of field": form({ id: "name", label: "Name" }),
    "types of files": files({ accept: ["video"] }),
  };
  for (const [name, input] of Object.entries(unknown)) {
    assert.equal(firstDraft(input), undefined, name);
  }
  assert.ok(firstDraft(files({ accept: ["video", "pdf"] })));
});
