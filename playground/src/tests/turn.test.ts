import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AskAction } from "@parley/client/v1/asks";
import { TurnEventSchema } from "@parley/client/v1/turns";
import { after, begun, type Turn } from "../turn";

type Event = NonNullable<MessageInitShape<typeof TurnEventSchema>["event"]>;

/** Returns a turn after events; those that are no previews get numbers. */
function played(...events: Event[]): Turn {
  let sequence = 0;
  return events.reduce((turn, event) => {
    const stored = !/Preview|previewDiscarded/.test(event.case ?? "");
    const numbered = stored ? ++sequence : 0;
    return after(turn, create(TurnEventSchema, { sequence: numbered, turnId: "t1", event }));
  }, begun());
}

const started: Event = { case: "started", value: { conversationId: "c1" } };
const call: Event = {
  case: "toolCall",
  value: { toolCallId: "k1", toolName: "lookUp", argsJson: '{"a":1}' },
};
const says = (delta: string): Event => ({ case: "textPreview", value: { delta } });

test("previews of text are appended", () => {
  const { reply } = played(started, says("Hello"), says(", you"));
  assert.equal(reply?.text, "Hello, you");
  assert.equal(reply?.writing, true);
});

test("a preview of a document takes the place of the one before", () => {
  const preview = (v: number): Event => ({ case: "blocksPreview", value: { document: { v } } });
  const { reply } = played(started, preview(1), preview(2));
  assert.equal(reply?.document?.v, 2);
});

test("discarded previews are gone", () => {
  assert.equal(
    played(started, says("Let me"), { case: "previewDiscarded", value: {} }).reply,
    undefined,
  );
});

test("every stored event ends the previews before it", () => {
  assert.equal(played(started, says("Let me"), call).reply, undefined);
});

test("the text takes the place of its previews, and stays to the end", () => {
  const { reply } = played(
    started,
    says("Hel"),
    { case: "text", value: { text: "Hello" } },
    { case: "done", value: {} },
  );
  assert.deepEqual(reply, { text: "Hello", document: undefined, writing: false, errors: [] });
});

test("a document stays in view while its text came and its check did not", () => {
  const preview: Event = { case: "blocksPreview", value: { document: { v: 1 } } };
  const text: Event = { case: "text", value: { text: "v: 1" } };
  const before = played(started, preview, text);
  assert.equal(before.reply?.document?.v, 1);
  const now = played(started, preview, text, {
    case: "blocks",
    value: { ok: false, errors: [{ path: "blocks", code: "TOO_FEW" }] },
  });
  assert.equal(now.reply?.document, undefined);
  assert.equal(now.reply?.text, "v: 1");
  assert.equal(now.reply?.errors[0]?.code, "TOO_FEW");
});

test("a call runs until its result comes", () => {
  const result = { toolCallId: "k1", toolName: "lookUp", resultJson: "{}" };
  const states = [{}, { isError: true }, { denied: { reason: "user_denied" } }].map((how) => {
    const turn = played(started, call, { case: "toolResult", value: { ...result, ...how } });
    assert.equal(turn.calls[0]?.argsJson, '{"a":1}');
    return turn.calls[0]?.state;
  });
  assert.equal(played(started, call).calls[0]?.state, "running");
  assert.deepEqual(states, ["done", "failed", "denied"]);
});

test("the result of an approved call comes without the call", () => {
  const { calls, resolved } = played(
    started,
    { case: "askResolved", value: { toolCallId: "a1", action: AskAction.ACCEPT } },
    { case: "toolResult", value: { toolCallId: "k1", toolName: "remove", resultJson: "{}" } },
  );
  assert.deepEqual(
    calls.map(({ toolName, state }) => [toolName, state]),
    [["remove", "done"]],
  );
  assert.equal(resolved?.toolCallId, "a1");
  assert.equal(resolved?.action, AskAction.ACCEPT);
});

test("an event that is newer than the page changes nothing but the previews", () => {
  assert.equal(played(started, says("Hm"), { case: undefined }).turnId, "t1");
});
