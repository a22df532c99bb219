import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, HeadingBlock_Size as Size } from "@parley/client/v1/blocks";
import { outline } from "../src/blocks/outline";
import { block } from "./documents";

const heading = (size: Size) => block({ case: "heading", value: { text: "x", size } });
const text = () => block({ case: "text", value: { markdown: "x" } });
const levels = (blocks: readonly Block[], of: readonly Block[] = blocks) => {
  const found = outline(blocks, 3);
  return of.map((one) => found.get(one));
};

test("no level is skipped, whatever the sizes", () => {
  const sizes = [Size.SIZE_2XL, Size.SIZE_SM, Size.SIZE_SM, Size.SIZE_XL, Size.SIZE_2XL];
  assert.deepEqual(levels(sizes.map(heading)), [3, 4, 4, 4, 3]);
});

test("a heading without a size is of the medium one", () => {
  assert.deepEqual(
    levels([Size.SIZE_MD, Size.SIZE_UNSPECIFIED, Size.SIZE_SM].map(heading)),
    [3, 3, 4],
  );
});

test("headings of a text stand below the one above it", () => {
  assert.deepEqual(levels([text(), heading(Size.SIZE_LG), text()]), [3, 3, 4]);
});

test("what a card holds stands below its title, and heads nothing after it", () => {
  const inside = heading(Size.SIZE_2XL);
  const titled = block({ case: "card", value: { title: "x", children: [inside] } });
  const after = heading(Size.SIZE_SM);
  const blocks = [heading(Size.SIZE_LG), titled, after];
  assert.deepEqual(levels(blocks, [titled, inside, after]), [4, 5, 4]);
});

test("what stands in one column heads nothing in the next", () => {
  const [one, other] = [heading(Size.SIZE_LG), text()];
  const blocks = [block({ case: "columns", value: { children: [one, other] } })];
  assert.deepEqual(levels(blocks, [one, other]), [3, 3]);
});

test("there is nothing below the sixth level", () => {
  const sizes = [Size.SIZE_2XL, Size.SIZE_XL, Size.SIZE_LG, Size.SIZE_MD, Size.SIZE_SM];
  assert.deepEqual(levels(sizes.map(heading)), [3, 4, 5, 6, 6]);
});
