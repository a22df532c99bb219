import assert from "node:assert/strict";
import { test } from "node:test";
import { readReply } from "../stored_reply";

const NOTE = "\n\nBlock validation errors:\n";

/** Returns the text of a stored reply, and the errors as rows. */
function read(stored: string) {
  const { text, errors } = readReply(stored);
  return { text, errors: errors.map(({ path, code, message }) => [path, code, message]) };
}

test("a reply without a note is what it is", () => {
  assert.deepEqual(read("Hello\n\n- there"), { text: "Hello\n\n- there", errors: [] });
});

test("the errors of the note are read, and the note is gone", () => {
  const lines = [
    "- blocks[0].text MISSING_REQUIRED `blocks[0].text` is missing.",
    "- blocks[1].LOUD_KEY.Too Much UNKNOWN_KEY `Too Much` is UNKNOWN_KEY.",
    "-  NOT_A_DOCUMENT This is no document.",
  ];
  assert.deepEqual(read(`v: 1${NOTE}${lines.join("\n")}`), {
    text: "v: 1",
    errors: [
      ["blocks[0].text", "MISSING_REQUIRED", "`blocks[0].text` is missing."],
      ["blocks[1].LOUD_KEY.Too Much", "UNKNOWN_KEY", "`Too Much` is UNKNOWN_KEY."],
      ["", "NOT_A_DOCUMENT", "This is no document."],
    ],
  });
});

test("a key of several lines stays in its error", () => {
  const { text, errors } = read(`v: 1${NOTE}- a\nb UNKNOWN_KEY No \`a\nb\`.\n- c TOO_FEW Few.`);
  assert.equal(text, "v: 1");
  assert.deepEqual(errors, [
    ["a\nb", "UNKNOWN_KEY", "No `a\nb`."],
    ["c", "TOO_FEW", "Few."],
  ]);
});

test("the last note is the server's", () => {
  const quoted = `v: 1${NOTE}- a TOO_FEW Few.`;
  assert.equal(readReply(`${quoted}${NOTE}- b TOO_MANY Many.`).text, quoted);
});

test("a text that merely speaks of such a note stays whole", () => {
  const text = `I was told:${NOTE}nothing at all.`;
  assert.deepEqual(read(text), { text, errors: [] });
});
