import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AskAction } from "@parley/client/v1/asks";
import {
  type Message,
  Message_Status,
  Message_Type,
  MessageAsk_Status,
  MessageSchema,
} from "@parley/client/v1/conversations";
import { linesOf } from "../transcript";
import { begun } from "../turn";

function message(fields: MessageInitShape<typeof MessageSchema>): Message {
  return create(MessageSchema, { turnId: "t1", ...fields });
}

const said = message({ type: Message_Type.USER, text: "Hello" });
const reply = message({
  type: Message_Type.ASSISTANT,
  text: "Hi",
  status: Message_Status.COMPLETE,
});
const ask = (status: MessageAsk_Status) =>
  message({
    type: Message_Type.TOOL_CALL,
    toolCallId: "a1",
    ask: { status, input: { prompt: "Which?" } },
  });
const answer = message({
  turnId: "t2",
  type: Message_Type.TOOL_RESULT,
  toolCallId: "a1",
  ask: {
    status: MessageAsk_Status.ANSWERED,
    answer: { action: { case: "decline", value: {} } },
  },
});
const call = message({ type: Message_Type.TOOL_CALL, toolCallId: "k1", toolName: "lookUp" });

const kinds = (...given: Parameters<typeof linesOf>) => linesOf(...given).map(({ kind }) => kind);

test("what was said and replied is there in order", () => {
  assert.deepEqual(kinds([said, reply]), ["said", "reply"]);
});

test("what a retry has replaced is left out", () => {
  assert.deepEqual(kinds([said, { ...reply, superseded: true }]), ["said"]);
});

test("a pending ask is no line, and an answered one has its answer", () => {
  assert.deepEqual(kinds([said, ask(MessageAsk_Status.PENDING)]), ["said"]);
  const [, line] = linesOf([said, ask(MessageAsk_Status.ANSWERED), answer]);
  assert.equal(line?.kind === "ask" && line.answer?.action.case, "decline");
});

test("an ask that the followed turn answered is a line at once, with what was done with it", () => {
  for (const action of [AskAction.ACCEPT, AskAction.DECLINE, AskAction.CANCEL]) {
    const turn = { ...begun(), turnId: "t2", resolved: { toolCallId: "a1", action } };
    const [, line] = linesOf([said, ask(MessageAsk_Status.PENDING)], turn);
    assert.equal(line?.kind === "ask" && line.action, action);
  }
  const other = { toolCallId: "a2", action: AskAction.ACCEPT };
  const turn = { ...begun(), turnId: "t2", resolved: other };
  assert.deepEqual(kinds([said, ask(MessageAsk_Status.PENDING)], turn), ["said"]);
});

test("a stored reply has its note read", () => {
  const text = "v: 2\n\nBlock validation errors:\n- v UNSUPPORTED_VERSION `v` must be 1.";
  const [line] = linesOf([{ ...reply, text }]);
  assert.equal(line?.kind === "reply" && line.text, "v: 2");
  assert.equal(line?.kind === "reply" && line.errors[0]?.code, "UNSUPPORTED_VERSION");
});

test("a call tells how it ended", () => {
  const results = [
    ['{"a":1}', "done"],
    ['{"error":"no"}', "failed"],
    ['{"approved":false,"reason":"user_denied"}', "denied"],
    ["[1]", "done"],
    ["", "done"],
  ];
  for (const [resultJson = "", state] of results) {
    const result = message({ type: Message_Type.TOOL_RESULT, toolCallId: "k1", resultJson });
    const [line] = linesOf([call, result]);
    assert.equal(line?.kind === "call" && line.state, state);
  }
});

test("what the followed turn has stored already is there once", () => {
  const turn = {
    ...begun({ text: "Hello", files: [] }),
    turnId: "t1",
    reply: { text: "Hi", document: undefined, writing: true, errors: [] },
  };
  const stored = linesOf([said, call, reply], turn);
  assert.deepEqual(
    stored.map(({ key }) => key),
    ["said:t1", "reply:t1"],
  );
  assert.deepEqual(kinds([], turn), ["said", "reply"]);
});

test("a line keeps its key when it is stored", () => {
  const turn = {
    ...begun({ text: "Hello", files: [] }),
    turnId: "t1",
    reply: { text: "Hi", document: undefined, writing: false, errors: [] },
  };
  assert.deepEqual(
    linesOf([], turn).map(({ key }) => key),
    linesOf([said, reply]).map(({ key }) => key),
  );
});

test("a reply that broke off says so", () => {
  const [line] = linesOf([{ ...reply, status: Message_Status.ERROR }]);
  assert.equal(line?.kind === "reply" && line.broken, true);
});
