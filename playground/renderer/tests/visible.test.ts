import assert from "node:assert/strict";
import { test } from "node:test";
import { laidOut, piecesOf } from "../src/asks/visible";

const shown = (text: string) =>
  piecesOf(text)
    .map((piece) => piece.text)
    .join("");
const lines = (json: string) =>
  laidOut(json)
    .map((token) => token.text)
    .join("");

test("nothing hides: every character that the server's guard knows is an escape", () => {
  const ranges = [
    [0x00, 0x09],
    [0x0b, 0x1f],
    [0x7f, 0x9f],
    [0x115f, 0x1160],
    [0x200b, 0x200f],
    [0x202a, 0x202e],
    [0x2060, 0x2064],
    [0x2066, 0x2069],
    [0x3164, 0x3164],
    [0xfeff, 0xfeff],
    [0xe0000, 0xe0fff],
  ] as const;
  for (const [first, last] of ranges) {
    for (let code = first; code <= last; code += 1) {
      const written = code.toString(16).toUpperCase().padStart(4, "0");
      assert.equal(shown(`a${String.fromCodePoint(code)}b`), `a\\u{${written}}b`);
    }
  }
});

test("the server's guard lets some hide that are escapes here", () => {
  assert.equal(
    shown("\u00AD\u061C\u2028\uFE01\uD800"),
    "\\u{00AD}\\u{061C}\\u{2028}\\u{FE01}\\u{D800}",
  );
});

test("ordinary text stays as it is, with its lines and emoji", () => {
  for (const text of ["", "Delete it?\nReally?", "❤️ Olá, שלום, 日本語", "a b"]) {
    assert.equal(shown(text), text);
  }
});

test("escapes are told apart from text that looks like one", () => {
  assert.deepEqual(piecesOf("\\u{202E}\u202Ex"), [
    { text: "\\u{202E}", escape: false },
    { text: "\\u{202E}", escape: true },
    { text: "x", escape: false },
  ]);
});

test("JSON is laid out over lines", () => {
  assert.equal(
    lines('{"a":[1,{"b":null}],"c":{},"d":[]}'),
    `{
  "a": [
    1,
    {
      "b": null
    }
  ],
  "c": {},
  "d": []
}`,
  );
});

test("laying out changes no value: numbers, repeated keys, escapes, braces in strings", () => {
  const text = String.raw`"{\"x\\\": [1, 2]}\n\u202e"`;
  const json = `{"n":12345678901234567890,"f":1.0,"k":1,"k":2,"s":${text}}`;
  const tokens = laidOut(json).map((token) => token.text);
  assert.equal(tokens.filter((token) => token.trim() !== "").join(""), json);
  const strings = laidOut(json)
    .filter((token) => token.string)
    .map((token) => token.text);
  assert.deepEqual(strings, ['"n"', '"f"', '"k"', '"k"', '"s"', text]);
});

test("what is no JSON is shown nevertheless", () => {
  assert.equal(lines('}{"open'), '\n}{\n  "open');
  assert.equal(lines("rm"), "rm");
});
