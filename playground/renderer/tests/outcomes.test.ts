import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  RunBlockActionResponse_Replace as Replace,
  RunBlockActionResponseSchema,
} from "@parley/client/v1/turns";
import { NO_OUTCOMES, settle } from "../src/blocks/outcomes";
import { documentOf } from "./documents";

const DOCUMENT = documentOf({});
const answer = (text: string, replace = Replace.UNSPECIFIED, blocks = true) =>
  create(RunBlockActionResponseSchema, { text, replace, ...(blocks ? { blocks: DOCUMENT } : {}) });

test("texts are added to those before, and a document shown beside the block", () => {
  const once = settle(NO_OUTCOMES, "acts", answer("one", Replace.UNSPECIFIED, false));
  const twice = settle(once, "acts", answer("two"));
  assert.deepEqual(twice.blocks.get("acts")?.texts, ["one", "two"]);
  assert.equal(twice.blocks.get("acts")?.document, DOCUMENT);
  assert.equal(twice.blocks.get("acts")?.instead, false);
  assert.equal(twice.blocks.get("others"), undefined);
});

test("a document takes the place of the block if the answer says so", () => {
  const outcomes = settle(NO_OUTCOMES, "acts", answer("", Replace.BLOCK));
  assert.equal(outcomes.blocks.get("acts")?.instead, true);
  assert.equal(outcomes.message, undefined);
});

test("a document takes the place of the whole message if the answer says so", () => {
  const before = settle(NO_OUTCOMES, "acts", answer("one"));
  const outcomes = settle(before, "acts", answer("two", Replace.MESSAGE));
  assert.equal(outcomes.message, DOCUMENT);
  assert.deepEqual(outcomes.texts, ["two"]);
  assert.equal(outcomes.blocks.size, 0);
});

test("without a document nothing is replaced", () => {
  const block = settle(NO_OUTCOMES, "acts", answer("one", Replace.BLOCK, false));
  assert.equal(block.blocks.get("acts")?.instead, false);
  const message = settle(NO_OUTCOMES, "acts", answer("one", Replace.MESSAGE, false));
  assert.equal(message.message, undefined);
  assert.deepEqual(message.blocks.get("acts")?.texts, ["one"]);
});
