import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { BlockDocumentSchema } from "@parley/client/v1/blocks";
import { spokenReply } from "../spoken";

test("a text is spoken without its marks", () => {
  const text = "# Plan\n\n- **Team** is `on`";
  assert.equal(spokenReply({ text, document: undefined }), "Plan - Team is on");
});

test("a long text is cut", () => {
  assert.equal(spokenReply({ text: "a".repeat(1000), document: undefined }).length, 401);
});

test("a document is spoken by its words", () => {
  const document = create(BlockDocumentSchema, {
    blocks: [
      { block: { case: "heading", value: { text: "Sales" } } },
      {
        block: {
          case: "columns",
          value: {
            children: [{ block: { case: "metric", value: { label: "Shops", value: "2" } } }],
          },
        },
      },
      { block: { case: "chart", value: { title: "By day" } } },
      { block: { case: "divider", value: {} } },
      { block: { case: undefined } },
    ],
  });
  assert.equal(spokenReply({ text: "", document }), "Sales. Shops: 2. Chart: By day");
});
