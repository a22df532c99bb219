import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { RefDatasetSchema } from "@parley/client/v1/blocks";
import { GetDatasetResponseSchema } from "@parley/client/v1/datasets";
import { hasNext, pageOf, rowsText } from "../src/blocks/pages";

const answer = (rows: number, more: boolean) =>
  create(GetDatasetResponseSchema, {
    rows: Array.from({ length: rows }, () => ({})),
    rowCount: 1234n,
    more,
  });

test("a table that is switched to another dataset begins at its first page", () => {
  assert.equal(pageOf(undefined, "loans"), 1);
  assert.equal(pageOf({ data: "loans", number: 3 }, "loans"), 3);
  assert.equal(pageOf({ data: "loans", number: 3 }, "renewals"), 1);
});

test("there is a next page while there are more rows and the server hands them out", () => {
  assert.equal(hasNext(undefined, 1), false);
  assert.equal(hasNext(answer(25, true), 1), true);
  assert.equal(hasNext(answer(9, false), 50), false);
  assert.equal(hasNext(answer(25, true), 10_000), false);
});

test("a page says which rows it holds", () => {
  const ref = create(RefDatasetSchema, { id: "ds", limit: 25 });
  assert.equal(rowsText(ref, 3, answer(25, true), "en"), "Rows 51–75 of 1,234");
  const open = create(RefDatasetSchema, { id: "ds" });
  assert.equal(rowsText(open, 3, answer(234, false), "en"), "Rows 1,001–1,234 of 1,234");
  assert.equal(rowsText(ref, 90, answer(0, false), "en"), "No rows on page 90, 1,234 in all");
});
