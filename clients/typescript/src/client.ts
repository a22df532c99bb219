/** Connecting. */

import type { Message } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import {
  Code,
  ConnectError,
  createClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { errorOf, isUnavailable } from "./errors.js";
import { AskContractService } from "./gen/parley/v1/ask_contract_pb.js";
import { BlockGenerationService } from "./gen/parley/v1/block_generation_pb.js";
import { ConversationService } from "./gen/parley/v1/conversations_pb.js";
import { DatasetService } from "./gen/parley/v1/datasets_pb.js";
import { FileService } from "./gen/parley/v1/files_pb.js";
import { AskService } from "./gen/parley/v1/service_asks_pb.js";
import { TurnService } from "./gen/parley/v1/turns_pb.js";
import { pause } from "./pauses.js";

/** A bearer token, or what returns one. It is asked before every call, so it can renew the token. */
export type Token = string | (() => string | Promise<string>);

/** Where a server is, and who calls. */
export interface Connection {
  /** Is where the gateway listens, as in `https://parley.example`. */
  readonly baseUrl: string;
  readonly token: Token;
}

/** A client for each service. */
export type Client = ReturnType<typeof clientOf>;

const TRIES = 5;
const { NO_SIDE_EFFECTS } = MethodOptions_IdempotencyLevel;

/** Returns a client that speaks Connect over `fetch`, as browsers and Node have it. */
export function connect({ baseUrl, token }: Connection): Client {
  const interceptors = interceptorsOf(token);
  return clientOf(createConnectTransport({ baseUrl, interceptors, useBinaryFormat: true }));
}

/** Returns a client on a transport of your own, which should have the interceptors of this file. */
export function clientOf(transport: Transport) {
  return {
    turns: createClient(TurnService, transport),
    conversations: createClient(ConversationService, transport),
    files: createClient(FileService, transport),
    datasets: createClient(DatasetService, transport),
    contract: createClient(AskContractService, transport),
    asks: createClient(AskService, transport),
    generation: createClient(BlockGenerationService, transport),
  };
}

/** Returns what `connect` gives its transport: repeats of calls, and the token on every try. */
export function interceptorsOf(token: Token): Interceptor[] {
  return [repeated, authorized(token)];
}

function authorized(token: Token): Interceptor {
  return (next) => async (request) => {
    request.header.set("Authorization", `Bearer ${await bearer(token)}`);
    return next(request);
  };
}

async function bearer(token: Token): Promise<string> {
  try {
    return typeof token === "string" ? token : await token();
  } catch (failed) {
    const { rawMessage: message } = ConnectError.from(failed);
    throw new ConnectError(message, Code.Unauthenticated, undefined, undefined, failed);
  }
}

/**
 * Sends a call again that met a server which stops or can't be reached: a read, or one whose request
 * has an id. A request that can have one gets one. Streams are left alone: see `turnEvents`.
 */
const repeated: Interceptor = (next) => async (request) => {
  if (request.stream) return next(request);
  const message = identified(request.message);
  const repeatable = "requestId" in message || request.method.idempotency === NO_SIDE_EFFECTS;
  for (let tries = 1; ; tries++) {
    try {
      return await next({ ...request, message });
    } catch (failed) {
      // What `fetch` throws gets to be an error of a call only further out.
      const error = errorOf(ConnectError.from(failed));
      if (!repeatable || tries === TRIES || !isUnavailable(error)) throw failed;
      await pause(tries - 1, request.signal);
    }
  }
};

function identified(message: Message): Message {
  if (!("requestId" in message) || message.requestId !== "") return message;
  return { ...message, requestId: crypto.randomUUID() } as Message;
}
