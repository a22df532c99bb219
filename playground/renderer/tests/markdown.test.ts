import assert from "node:assert/strict";
import { test } from "node:test";
import { hostOf, isDataImage, safeLink } from "../src/text/links";
import { headingLevels, markdownTree } from "../src/text/tree";

test("tables, task lists and footnotes are read", () => {
  const text = "| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n\nsee[^1]\n\n[^1]: note";
  assert.deepEqual(
    markdownTree(text).children.map(({ type }) => type),
    ["table", "list", "paragraph", "footnoteDefinition"],
  );
});

test("html stays the text that it is", () => {
  const [first] = markdownTree("<script>alert(1)</script>").children;
  assert.equal(first?.type, "html");
  assert.equal(first?.type === "html" && first.value, "<script>alert(1)</script>");
});

test("links lead to whole addresses of https, http and mailto alone", () => {
  assert.equal(safeLink("https://library.example/a"), "https://library.example/a");
  assert.equal(safeLink("mailto:desk@library.example"), "mailto:desk@library.example");
  for (const each of [
    "javascript:alert(1)",
    " jAvAsCrIpT:1",
    "data:text/html,x",
    "/v1/x",
    "#x",
    "",
    "blob:x",
  ]) {
    assert.equal(safeLink(each), undefined, each);
  }
});

test("only images in their address are shown", () => {
  assert.equal(isDataImage("data:image/svg+xml,<svg/>"), true);
  assert.equal(isDataImage("data:text/html,x"), false);
  assert.equal(isDataImage("https://images.example/a.png"), false);
  assert.equal(hostOf("https://images.example/a.png"), "images.example");
  assert.equal(hostOf("a.png"), undefined);
});

test("headings are put below those of the page, none skipped", () => {
  assert.deepEqual(headingLevels([1, 3, 3, 2, 1], 3), [3, 4, 4, 4, 3]);
  assert.deepEqual(headingLevels([2, 1], 4), [4, 4]);
  assert.deepEqual(headingLevels([1, 2, 3, 4, 5, 6], 3), [3, 4, 5, 6, 6, 6]);
});

test("a text that nests without end is shown as it is, in a moment", () => {
  const nested = [">".repeat(4000), "> ".repeat(40_000), "- ".repeat(2000), "1. ".repeat(9000)];
  for (const text of [...nested, "**a ".repeat(1000), "[".repeat(4000)]) {
    const began = performance.now();
    assert.equal(markdownTree(text).children[0]?.type, "paragraph");
    assert.ok(performance.now() - began < 1000, text.slice(0, 4));
  }
});

test("lines and quotes as people write them are read", () => {
  const text = `${"-".repeat(200)}\n\n> > > quoted\n\n- - - nested`;
  assert.deepEqual(
    markdownTree(text).children.map(({ type }) => type),
    ["thematicBreak", "blockquote", "list"],
  );
});
