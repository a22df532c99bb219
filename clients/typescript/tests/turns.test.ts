import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { StreamTurnRequestSchema, WatchTurnRequestSchema } from "../src/gen/parley/v1/turns_pb.js";
import { ParleyError, type TurnOptions, type TurnRequestInit, turnEvents } from "../src/index.js";
import {
  all,
  DISCARDED,
  DONE,
  event,
  HEL,
  PlayedTurns,
  RESUMED,
  refusal,
  type Said,
  STARTED,
  STOPPED,
  TEXT,
} from "./played_turns.js";

const SOON = 5_000;
const REQUEST = create(StreamTurnRequestSchema, {
  input: { case: "prompt", value: { text: "Hello" } },
  requestId: "00000000-0000-0000-0000-000000000001",
});
const BREAKS: Record<string, Said[]> = {
  "the server stops": [STOPPED],
  "the network breaks": [new ConnectError("Socket closed", Code.Unavailable)],
  "the call meets the stop": [new ConnectError("cancelled", Code.Canceled)],
  "a proxy resets the stream": [new ConnectError("RST_STREAM", Code.Internal)],
  "a proxy breaks the stream": [new ConnectError("terminated", Code.Unknown)],
  "the stream just ends": [],
};

function watching(afterSequence: number) {
  return create(WatchTurnRequestSchema, { conversationId: "c-1", turnId: "t-1", afterSequence });
}

async function heard(
  turns: PlayedTurns,
  request: TurnRequestInit = REQUEST,
  options: TurnOptions = {},
) {
  return await all(turnEvents(turns.client, request, options));
}

async function failure(turns: PlayedTurns, options: TurnOptions = {}): Promise<ParleyError> {
  const failed: unknown = await heard(turns, REQUEST, options).then(
    () => undefined,
    (error) => error,
  );
  assert(failed instanceof ParleyError);
  return failed;
}

test("a stream that holds is passed on without its empty responses", async () => {
  const turns = new PlayedTurns([["nothing", STARTED, RESUMED, "nothing", HEL, TEXT, DONE]]);
  assert.deepEqual(await heard(turns), [STARTED, RESUMED, HEL, TEXT, DONE]);
  assert.deepEqual(turns.received, [REQUEST]);
});

for (const [what, broken] of Object.entries(BREAKS)) {
  test(`a stream goes on after the last event where ${what}`, async () => {
    const turns = new PlayedTurns([
      [STARTED, RESUMED, ...broken],
      [...broken],
      ["nothing", TEXT, ...broken],
      [DONE],
    ]);
    assert.deepEqual(await heard(turns), [STARTED, RESUMED, TEXT, DONE]);
    assert.deepEqual(turns.received, [REQUEST, watching(2), watching(2), watching(3)]);
  });

  test(`a request that nobody heard is repeated where ${what}`, async () => {
    const turns = new PlayedTurns([[...broken], ["nothing", ...broken], [STARTED, DONE]]);
    assert.deepEqual(await heard(turns), [STARTED, DONE]);
    assert.deepEqual(turns.received, [REQUEST, REQUEST, REQUEST]);
  });
}

test("every repeat of a request has its id, and the caller's is left alone", async () => {
  const turns = new PlayedTurns([[STOPPED], [STARTED, DONE], [STARTED, DONE]]);
  const own = create(StreamTurnRequestSchema, { input: { case: "prompt", value: { text: "Hi" } } });
  for (let times = 0; times < 2; times++) await heard(turns, own);
  const [first, repeat, other] = turns.received.map(
    (each) => "requestId" in each && each.requestId,
  );
  assert.match(String(first), /^[0-9a-f]{8}-/);
  assert.equal(first, repeat);
  assert.notEqual(first, other);
  assert.equal(own.requestId, "");
});

test("a turn can be watched from where a client is", async () => {
  const turns = new PlayedTurns([
    [RESUMED, STOPPED],
    [TEXT, DONE],
  ]);
  assert.deepEqual(await heard(turns, watching(1)), [RESUMED, TEXT, DONE]);
  assert.deepEqual(turns.received, [watching(1), watching(2)]);
});

test("what came before does not come again", async () => {
  const turns = new PlayedTurns([
    [STARTED, RESUMED, STOPPED],
    [STARTED, RESUMED, TEXT, DONE],
  ]);
  assert.deepEqual(await heard(turns), [STARTED, RESUMED, TEXT, DONE]);
});

test("a preview is withdrawn before it comes anew", async () => {
  const turns = new PlayedTurns([
    [STARTED, HEL, STOPPED],
    [STOPPED],
    [HEL, DISCARDED, STOPPED],
    [HEL, TEXT, STOPPED],
    [DONE],
  ]);
  const expected = [STARTED, HEL, DISCARDED, HEL, DISCARDED, HEL, TEXT, DONE];
  assert.deepEqual(await heard(turns), expected);
});

test("events that are newer than the client are left out, and counted", async () => {
  const turns = new PlayedTurns([
    [STARTED, event(0), event(2), STOPPED],
    [TEXT, DONE],
  ]);
  assert.deepEqual(await heard(turns), [STARTED, TEXT, DONE]);
  assert.deepEqual(turns.received, [REQUEST, watching(2)]);
});

test("a stored event that is newer than the client ends a preview as any other does", async () => {
  const turns = new PlayedTurns([[STARTED, HEL, event(0), event(2), TEXT, DONE]]);
  assert.deepEqual(await heard(turns), [STARTED, HEL, DISCARDED, TEXT, DONE]);
});

const REFUSALS = [
  refusal(Code.NotFound, "TURN_NOT_FOUND"),
  refusal(Code.OutOfRange, "EVENTS_EXPIRED"),
  refusal(Code.ResourceExhausted, "RATE_LIMITED"),
  refusal(Code.Unavailable, "MODEL_NOT_CONFIGURED"),
  refusal(Code.Internal, "INTERNAL"),
  refusal(Code.Unauthenticated, "UNAUTHENTICATED"),
  new ConnectError("too large", Code.ResourceExhausted),
];

test("what a server refuses is not tried again", async () => {
  for (const refused of REFUSALS) {
    for (const play of [[refused], [STARTED, refused]]) {
      const turns = new PlayedTurns([play]);
      const { code } = await failure(turns);
      assert.equal(code, refused.code);
      assert.equal(turns.received.length, 1);
    }
  }
});

test("a pause is short again once a server has said something", { timeout: SOON }, async () => {
  const said = Array.from({ length: 12 }, (_, index) => [event(index + 1, TEXT.event), STOPPED]);
  const turns = new PlayedTurns([...said, [event(13, DONE.event)]]);
  assert.equal((await heard(turns, watching(0))).length, 13);
});

test("a server that is gone for too long ends it", { timeout: SOON }, async () => {
  const turns = new PlayedTurns([[STARTED, STOPPED], ...Array<Said[]>(50).fill([STOPPED])]);
  const { code, reason } = await failure(turns, { patienceMs: 500 });
  assert.deepEqual([code, reason], [Code.Unavailable, "UNAVAILABLE"]);
  const tries = turns.received.length;
  assert(tries > 2 && tries < 10, `it tries again, after growing pauses: ${tries} times`);
});

test("a server that says nothing for too long is left for another", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const turns = new PlayedTurns([[STARTED, "silence"], [DONE]]);
  const events = turnEvents(turns.client, REQUEST, { patienceMs: 100_000 });
  assert.deepEqual((await events.next()).value, STARTED);
  const next = events.next();
  await settled();
  t.mock.timers.tick(44_999);
  await settled();
  assert.equal(turns.received.length, 1);
  t.mock.timers.tick(1);
  await turns.left;
  await settled();
  t.mock.timers.tick(5_000);
  assert.deepEqual((await next).value, DONE);
  assert.deepEqual(turns.received, [REQUEST, watching(1)]);
});

test("leaving early ends the call", async () => {
  const turns = new PlayedTurns([[STARTED, "silence"]]);
  for await (const first of turnEvents(turns.client, REQUEST)) {
    assert.deepEqual(first, STARTED);
    break;
  }
  await turns.left;
});

test("an aborted signal ends the call with its reason", { timeout: SOON }, async () => {
  const turns = new PlayedTurns([[STARTED, HEL, "silence"]]);
  const leaving = new AbortController();
  const events = turnEvents(turns.client, REQUEST, { signal: leaving.signal });
  for (let heard = 0; heard < 2; heard++) await events.next();
  const next = events.next();
  leaving.abort(new Error("enough"));
  await assert.rejects(next, { message: "enough" });
  await turns.left;
});

test("an aborted signal ends the pauses, and no call follows", async () => {
  const turns = new PlayedTurns(Array<Said[]>(50).fill([STOPPED]));
  const signal = AbortSignal.timeout(300);
  await assert.rejects(heard(turns, REQUEST, { signal }), { name: "TimeoutError" });
  const tries = turns.received.length;
  await assert.rejects(heard(turns, REQUEST, { signal }), { name: "TimeoutError" });
  assert.equal(turns.received.length, tries);
});

test("a token is asked for anew on every try", async () => {
  const names = ["ada", "eve"];
  const turns = new PlayedTurns([[STARTED, STOPPED], [DONE]], async () => names.shift() ?? "");
  await heard(turns);
  assert.deepEqual(turns.tokens, ["Bearer ada", "Bearer eve"]);
});

/** Lets everything happen that waits for no timer. */
async function settled(): Promise<void> {
  for (let rounds = 0; rounds < 50; rounds++) await new Promise(setImmediate);
}
