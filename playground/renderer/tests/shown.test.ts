import assert from "node:assert/strict";
import { test } from "node:test";
import { everyBlock, Names, type Switched, shownDataset } from "../src/blocks/shown";
import { block, documentOf } from "./documents";

const TABLE = block({ case: "table", value: { data: "loans" } }, "rows");
const CHART = block(
  {
    case: "chart",
    value: { source: { case: "binding", value: { data: "loans", x: "x", y: "y" } } },
  },
  "months",
);
const NAMELESS = block({ case: "table", value: { data: "loans" } });
const names = new Names(
  documentOf({
    datasets: [{ name: "loans" }, { name: "renewals" }],
    blocks: [
      block({ case: "card", value: { children: [TABLE] } }, "card"),
      block({ case: "columns", value: { children: [CHART, NAMELESS] } }),
    ],
  }),
);
const nothing: Switched = new Map();

test("a chart or table shows its own dataset until it is switched", () => {
  const switched = names.switchTo(nothing, "months", "renewals");
  assert.equal(shownDataset(CHART, nothing), "loans");
  assert.equal(shownDataset(CHART, switched), "renewals");
  assert.equal(shownDataset(TABLE, switched), "loans");
});

test("switching finds its target inside of cards and columns", () => {
  assert.equal(names.target("rows"), TABLE);
  assert.equal(names.target("months"), CHART);
});

test("a switch to a dataset or of a target that the document lacks changes nothing", () => {
  assert.equal(names.switchTo(nothing, "months", "gone"), nothing);
  assert.equal(names.switchTo(nothing, "gone", "renewals"), nothing);
  assert.equal(names.switchTo(nothing, "card", "renewals"), nothing);
  assert.equal(names.canSwitch("months", "constructor"), false);
});

test("blocks without an id are not switched along with each other", () => {
  assert.equal(shownDataset(NAMELESS, new Map([["", "renewals"]])), "loans");
});

test("blocks are walked in the order of the document", () => {
  const card = block({ case: "card", value: { children: [TABLE] } });
  assert.deepEqual(everyBlock([card, CHART]), [card, TABLE, CHART]);
});
