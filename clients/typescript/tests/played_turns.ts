/** A service of turns that plays what a test says, over the wire in memory. */

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createRouterTransport,
  type HandlerContext,
} from "@connectrpc/connect";
import { ErrorInfoSchema } from "../src/gen/google/rpc/error_details_pb.js";
import {
  type StreamTurnRequest,
  type TurnEvent,
  TurnEventSchema,
  TurnService,
  type WatchTurnRequest,
} from "../src/gen/parley/v1/turns_pb.js";
import { type Client, clientOf, interceptorsOf, type Token } from "../src/index.js";

/** An event, how the call ends, an empty response, or not a word any more. */
export type Said = TurnEvent | ConnectError | "nothing" | "silence";

export const STARTED = event(1, { case: "started", value: { conversationId: "c-1" } });
export const RESUMED = event(2, { case: "resumed", value: { attempt: 2 } });
export const TEXT = event(3, { case: "text", value: { text: "Hello" } });
export const DONE = event(4, { case: "done", value: { conversationId: "c-1" } });
export const HEL = event(0, { case: "textPreview", value: { delta: "Hel" } });
export const DISCARDED = event(0, { case: "previewDiscarded", value: {} });
export const STOPPED = refusal(Code.Unavailable, "UNAVAILABLE");

export function event(
  sequence: number,
  of?: MessageInitShape<typeof TurnEventSchema>["event"],
): TurnEvent {
  return create(TurnEventSchema, { sequence, turnId: "t-1", ...(of && { event: of }) });
}

/** Returns how the server refuses a call. */
export function refusal(code: Code, reason: string, metadata: Record<string, string> = {}) {
  const detail = { desc: ErrorInfoSchema, value: { reason, domain: "parley", metadata } };
  return new ConnectError("No.", code, undefined, [detail]);
}

/** Plays one list a call, and keeps what it was sent. */
export class PlayedTurns {
  readonly received: (StreamTurnRequest | WatchTurnRequest)[] = [];
  readonly tokens: (string | null)[] = [];
  readonly client: Client;
  /** Is resolved once a call is over on the server's side. */
  readonly left: Promise<void>;
  #leave: () => void = () => {};
  readonly #plays: Said[][];

  constructor(plays: Said[][], token: Token = "token") {
    this.#plays = plays;
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    const play = this.#play.bind(this);
    const transport = createRouterTransport(
      ({ service }) => service(TurnService, { streamTurn: play, watchTurn: play }),
      { transport: { interceptors: interceptorsOf(token) } },
    );
    this.client = clientOf(transport);
  }

  async *#play(request: StreamTurnRequest | WatchTurnRequest, context: HandlerContext) {
    this.received.push(request);
    this.tokens.push(context.requestHeader.get("authorization"));
    const over = new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    void over.then(this.#leave);
    for (const said of this.#plays.shift() ?? []) {
      if (said === "silence") {
        await over;
        return;
      }
      if (said instanceof ConnectError) throw said;
      yield said === "nothing" ? {} : { event: said };
    }
  }
}

/** Returns all that a generator yields. */
export async function all<T>(yielded: AsyncIterable<T>): Promise<T[]> {
  const got: T[] = [];
  for await (const each of yielded) got.push(each);
  return got;
}
