import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, fromJsonString, toBinary, toJsonString } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type AskAsked, AskAskedSchema } from "../src/gen/parley/v1/turns_pb.js";
import { cardAnswer } from "../src/index.js";

const ASK = create(AskAskedSchema, {
  conversationId: "c-1",
  toolCallId: "call-1",
  simple: { toolCallId: "call-1", text: "Where?", buttons: [{ id: "skip", label: "Skip" }] },
});
const LATER_KIND = 60;

/** Returns the ask as a later server sends it: with a kind that this client does not know. */
function newer(): Record<string, AskAsked> {
  const kind = new BinaryWriter().tag(LATER_KIND, WireType.LengthDelimited).string("a map");
  const input = new BinaryWriter().tag(4, WireType.LengthDelimited).bytes(kind.finish());
  const json = JSON.parse(toJsonString(AskAskedSchema, ASK)) as object;
  const said = { ...json, kind: "ASK_KIND_PLACE", input: { prompt: "Where?", place: { zoom: 3 } } };
  return {
    binary: fromBinary(
      AskAskedSchema,
      Buffer.concat([toBinary(AskAskedSchema, ASK), input.finish()]),
    ),
    json: fromJsonString(AskAskedSchema, JSON.stringify(said), { ignoreUnknownFields: true }),
  };
}

for (const [format, ask] of Object.entries(newer())) {
  test(`an ask of a later kind can be answered from its card, in ${format}`, () => {
    assert.equal(ask.input?.kind.case, undefined);
    const { case: name, value } = cardAnswer(ask, "skip");
    assert.equal(name, "button");
    assert.deepEqual([value.toolCallId, value.buttonId], ["call-1", "skip"]);
  });
}

test("a button that the card does not have can't be pressed", () => {
  assert.throws(() => cardAnswer(ASK, "other"), RangeError);
  assert.throws(() => cardAnswer({ toolCallId: "call-1" }, "skip"), RangeError);
});
