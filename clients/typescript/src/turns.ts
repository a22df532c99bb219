/** The events of a turn to its end, whatever becomes of servers and connections on the way. */

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Client } from "./client.js";
import { errorOf, isUnavailable, ParleyError } from "./errors.js";
import {
  type StreamTurnRequest,
  StreamTurnRequestSchema,
  type StreamTurnResponse,
  type TurnEvent,
  TurnEventSchema,
  type WatchTurnRequest,
  WatchTurnRequestSchema,
  type WatchTurnResponse,
} from "./gen/parley/v1/turns_pb.js";
import { pause } from "./pauses.js";

/** Starts a turn, or watches one. */
export type TurnRequestInit =
  | MessageInitShape<typeof StreamTurnRequestSchema>
  | MessageInitShape<typeof WatchTurnRequestSchema>;

/** How a turn is followed. */
export interface TurnOptions {
  /** Ends the following, never the turn. */
  readonly signal?: AbortSignal;
  /** Is how long no server may have said a word; 60,000 when left out. */
  readonly patienceMs?: number;
}

/** A connection without a word for so long is dead: a server says something every 15 seconds. */
const SILENCE_MS = 45_000;

/**
 * Starts a turn, or watches one, and yields its events up to `done`: each once, in order.
 *
 * Where the stream breaks it goes on with `WatchTurn`, after growing pauses, until no server has
 * said a word for `patienceMs`. A request without a `requestId` gets one, so that the turn is
 * started once. Leaving early leaves the turn running.
 *
 * Previews are among the events. Before a broken stream goes on they are withdrawn by a
 * `previewDiscarded`, since a server begins them anew. Events newer than this client are left out.
 *
 * @throws ParleyError where the server refuses, or patience is at its end; the turn may run
 * nevertheless. The signal's reason, once it is aborted.
 */
export async function* turnEvents(
  client: Client,
  request: TurnRequestInit,
  { signal, patienceMs = 60_000 }: TurnOptions = {},
): AsyncGenerator<TurnEvent, void, undefined> {
  const place = new Place(request);
  let tries = 0;
  let heard = Date.now();
  while (true) {
    let error = new ParleyError(Code.Unavailable, "The stream ended too early.");
    try {
      for await (const { event } of responses(client, place.request, signal)) {
        const news = event && place.move(event);
        if (news) yield news;
        if (place.done) return;
        tries = 0;
        heard = Date.now();
      }
    } catch (failed) {
      signal?.throwIfAborted();
      error = errorOf(failed);
      if (!isBroken(error)) throw error;
    }
    if (Date.now() - heard > patienceMs) throw error;
    if (place.previewing) yield place.withdrawn();
    await pause(tries++, signal);
  }
}

/** Where a client is in a turn: what it sends next, and what is news to it. */
class Place {
  request: StreamTurnRequest | WatchTurnRequest;
  previewing = false;
  done = false;
  private turnId = "";
  private sequence = 0;

  constructor(request: TurnRequestInit) {
    if ("turnId" in request) {
      this.request = create(WatchTurnRequestSchema, request);
      this.sequence = this.request.afterSequence;
    } else {
      const own = create(StreamTurnRequestSchema, request);
      this.request = { ...own, requestId: own.requestId || crypto.randomUUID() };
    }
  }

  /** Moves on by an event, and returns what of it is news. */
  move(event: TurnEvent): TurnEvent | undefined {
    const { sequence, turnId } = event;
    const { case: name, value } = event.event;
    this.turnId = turnId;
    if (sequence === 0) {
      if (name) this.previewing = name !== "previewDiscarded";
      return name && event;
    }
    if (sequence <= this.sequence) return undefined;
    this.sequence = sequence;
    this.done = name === "done";
    if (name === "started") {
      const { conversationId } = value;
      this.request = create(WatchTurnRequestSchema, { conversationId, turnId });
    }
    if (this.request.$typeName === WatchTurnRequestSchema.typeName) {
      this.request = { ...this.request, afterSequence: sequence };
    }
    const news = name ? event : this.previewing ? this.withdrawn() : undefined;
    this.previewing = false;
    return news;
  }

  /** Returns the event that withdraws what the previews said. */
  withdrawn(): TurnEvent {
    this.previewing = false;
    return create(TurnEventSchema, {
      turnId: this.turnId,
      event: { case: "previewDiscarded", value: {} },
    });
  }
}

const BROKEN: ReadonlySet<Code> = new Set([
  Code.Unavailable, // the server stops, or can't be reached
  Code.Canceled, // the call met a server in the very moment of its stop
  Code.Internal, // something on the way broke the stream, as in the next
  Code.Unknown,
]);

function isBroken(error: ParleyError): boolean {
  return isUnavailable(error) || (error.reason === "" && BROKEN.has(error.code));
}

async function* responses(
  client: Client,
  request: StreamTurnRequest | WatchTurnRequest,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamTurnResponse | WatchTurnResponse, void, undefined> {
  signal?.throwIfAborted();
  const call = new AbortController();
  const leave = () => call.abort(signal?.reason);
  signal?.addEventListener("abort", leave);
  const hush = () =>
    call.abort(new ConnectError("The server said nothing for too long.", Code.Unavailable));
  try {
    const stream =
      request.$typeName === WatchTurnRequestSchema.typeName
        ? client.turns.watchTurn(request, { signal: call.signal })
        : client.turns.streamTurn(request, { signal: call.signal });
    const reading = stream[Symbol.asyncIterator]();
    while (true) {
      const silence = setTimeout(hush, SILENCE_MS);
      try {
        const { done, value } = await reading.next();
        if (done) return;
        yield value;
      } finally {
        clearTimeout(silence);
      }
    }
  } finally {
    signal?.removeEventListener("abort", leave);
    call.abort();
  }
}
