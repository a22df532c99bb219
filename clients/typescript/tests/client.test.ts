import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createRouterTransport,
  type HandlerContext,
} from "@connectrpc/connect";
import { ConversationService } from "../src/gen/parley/v1/conversations_pb.js";
import { TurnRequestSchema, TurnService } from "../src/gen/parley/v1/turns_pb.js";
import { clientOf, interceptorsOf, type Token, turnEvents } from "../src/index.js";
import { refusal, STOPPED } from "./played_turns.js";

const LOST = new ConnectError("Socket closed", Code.Unavailable);

/** Fails as a test says, one after the other, before it answers; keeps what came. */
class Failing {
  readonly requestIds: string[] = [];
  readonly tokens: (string | null)[] = [];
  readonly client;

  constructor(errors: ConnectError[], token: Token = "token") {
    const act = (context: HandlerContext, requestId = "") => {
      this.requestIds.push(requestId);
      this.tokens.push(context.requestHeader.get("authorization"));
      const error = errors.shift();
      if (error) throw error;
      return {};
    };
    const transport = createRouterTransport(
      ({ service }) => {
        service(TurnService, {
          turn: (request, context) => act(context, request.requestId),
          listPendingAsks: (_, context) => act(context),
          runBlockAction: (_, context) => act(context),
        });
        service(ConversationService, {
          createConversation: (request, context) => act(context, request.requestId),
        });
      },
      { transport: { interceptors: interceptorsOf(token) } },
    );
    this.client = clientOf(transport);
  }

  get calls(): number {
    return this.requestIds.length;
  }
}

test("every call carries the token", async () => {
  const server = new Failing([], "secret");
  await server.client.turns.listPendingAsks({});
  await server.client.turns.listPendingAsks({}, { headers: { authorization: "Bearer other" } });
  assert.deepEqual(server.tokens, ["Bearer secret", "Bearer secret"]);
});

test("a token is asked for before every call, and before every repeat", async () => {
  const names = ["ada", "eve", "noor"];
  const server = new Failing([LOST], () => names.shift() ?? "");
  await server.client.turns.listPendingAsks({});
  await server.client.turns.listPendingAsks({});
  assert.deepEqual(server.tokens, ["Bearer ada", "Bearer eve", "Bearer noor"]);
});

test("what asks for a token may fail, and no call is made", async () => {
  const server = new Failing([], () => Promise.reject(new Error("signed out")));
  const failed = server.client.turns.listPendingAsks({});
  await assert.rejects(failed, { code: Code.Unauthenticated, rawMessage: "signed out" });
  const followed = turnEvents(server.client, { conversationId: "c-1", turnId: "t-1" }).next();
  await assert.rejects(followed, { code: Code.Unauthenticated, message: "signed out" });
  assert.equal(server.calls, 0);
});

test("a token that can't be got because of the network is asked for again", async () => {
  const answers = [() => Promise.reject(new TypeError("fetch failed")), () => "fresh"];
  const server = new Failing([], () => answers.shift()?.() ?? "");
  await server.client.turns.listPendingAsks({});
  assert.deepEqual(server.tokens, ["Bearer fresh"]);
});

test("a read is repeated until a server is there", async () => {
  const server = new Failing([LOST, STOPPED, LOST, STOPPED]);
  await server.client.turns.listPendingAsks({});
  assert.equal(server.calls, 5);
});

test("a turn gets a request id, which every repeat has, and the caller's request is left alone", async () => {
  const server = new Failing([LOST, STOPPED]);
  const request = create(TurnRequestSchema, { conversationId: "c-1" });
  for (let times = 0; times < 2; times++) await server.client.turns.turn(request);
  const [first, ...others] = server.requestIds;
  assert.match(String(first), /^[0-9a-f]{8}-/);
  assert.deepEqual(others.slice(0, 2), [first, first]);
  assert.notEqual(others[2], first);
  assert.equal(request.requestId, "");
});

test("a request id of the caller's is kept", async () => {
  const server = new Failing([LOST]);
  await server.client.conversations.createConversation({ requestId: "mine" });
  assert.deepEqual(server.requestIds, ["mine", "mine"]);
});

test("what changes something and has no request id is not repeated", async () => {
  const server = new Failing([LOST]);
  await assert.rejects(server.client.turns.runBlockAction({}), LOST);
  assert.equal(server.calls, 1);
});

test("what a server refuses is not repeated", async () => {
  const refusals = [
    refusal(Code.Aborted, "ASK_NOT_PENDING"),
    refusal(Code.Internal, "INTERNAL"),
    refusal(Code.ResourceExhausted, "RATE_LIMITED"),
    refusal(Code.Unavailable, "MODEL_NOT_CONFIGURED"),
    new ConnectError("what?", Code.Unknown),
  ];
  for (const refused of refusals) {
    const server = new Failing([refused]);
    await assert.rejects(server.client.turns.turn({}), { code: refused.code });
    assert.equal(server.calls, 1);
  }
});

test("a server that stays away ends it", async () => {
  const server = new Failing(Array<ConnectError>(50).fill(LOST));
  await assert.rejects(server.client.turns.turn({}), { code: Code.Unavailable });
  assert.equal(server.calls, 5);
});

test("a deadline and a signal end the repeats", async () => {
  const server = new Failing(Array<ConnectError>(50).fill(LOST));
  const late = server.client.turns.turn({}, { timeoutMs: 20 });
  await assert.rejects(late, { code: Code.DeadlineExceeded });
  const left = server.client.turns.turn({}, { signal: AbortSignal.timeout(20) });
  await assert.rejects(left, { code: Code.Canceled });
  assert.equal(server.calls, 2);
});
