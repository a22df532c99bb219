/**
 * What a person does with a real server, for a test that watches both sides.
 *
 * `node scenes.js SCENE PROTOCOL BASE_URL TOKEN…` plays a scene and says what comes to light, a line
 * of JSON each. Of several tokens every call takes the next; the last one stays. gRPC trusts the
 * authority of the file `CA_FILE`.
 */

import { readFileSync } from "node:fs";
import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createConnectTransport } from "@connectrpc/connect-web";
import { AskOrigin } from "../src/gen/parley/v1/asks_pb.js";
import {
  type AskAsked,
  Surface,
  TurnEventSchema,
  TurnResultSchema,
} from "../src/gen/parley/v1/turns_pb.js";
import {
  type Client,
  Code,
  cardAnswer,
  clientOf,
  connect,
  downloadFile,
  errorOf,
  interceptorsOf,
  type TurnRequestInit,
  turnEvents,
} from "../src/index.js";
import { connect as connectGrpc, uploadFile } from "../src/node.js";
import { turnServiceWithoutChoices } from "./older.js";

const [scene = "", protocol = "", baseUrl = "", ...tokens] = process.argv.slice(2);
const { CA_FILE } = process.env;
const PROMPT = { input: { case: "prompt", value: { text: "Set up my workspace" } } } as const;

async function token(): Promise<string> {
  return (tokens.length > 1 ? tokens.shift() : tokens[0]) ?? "";
}

const CLIENTS: Record<string, () => Client> = {
  grpc: () =>
    connectGrpc({ baseUrl, token, ...(CA_FILE && { tls: { ca: readFileSync(CA_FILE) } }) }),
  "connect-binary": () => connect({ baseUrl, token }),
  "connect-json": () => clientOf(TRANSPORTS["connect-json"]()),
};

const interceptors = interceptorsOf(token);
const TRANSPORTS = {
  grpc: () => createGrpcTransport({ baseUrl, interceptors }),
  "connect-binary": () => createConnectTransport({ baseUrl, interceptors, useBinaryFormat: true }),
  "connect-json": () => createConnectTransport({ baseUrl, interceptors }),
} satisfies Record<string, () => Transport>;

function say(word: JsonValue): void {
  process.stdout.write(`${JSON.stringify(word)}\n`);
}

/** Follows a turn, says its events, and returns what it asks. */
async function follow(client: Client, request: TurnRequestInit): Promise<AskAsked | undefined> {
  let ask: AskAsked | undefined;
  for await (const event of turnEvents(client, request)) {
    say({ name: event.event.case ?? "", event: toJson(TurnEventSchema, event) });
    if (event.event.case === "ask") ask = event.event.value;
  }
  return ask;
}

async function asked(client: Client): Promise<AskAsked> {
  const ask = await follow(client, PROMPT);
  if (!ask) throw new Error("The agent asked nothing.");
  return ask;
}

function chosen({ conversationId, toolCallId }: AskAsked, ...selected: string[]) {
  const content = { case: "choice", value: { selected } } as const;
  const answer = { action: { case: "accept", value: { content } } } as const;
  return { conversationId, input: { case: "answer", value: { toolCallId, answer } } } as const;
}

async function press(client: Client, ask: AskAsked): Promise<void> {
  const { result } = await client.turns.turn({
    conversationId: ask.conversationId,
    input: cardAnswer(ask, ask.simple?.buttons[0]?.id ?? ""),
    surface: Surface.COMPACT,
  });
  say(result ? toJson(TurnResultSchema, result) : null);
}

async function refused(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    const { code, reason, metadata, fields } = errorOf(error);
    say({ code: Code[code], reason, metadata, fields: fields.map((field) => ({ ...field })) });
  }
}

const SCENES: Record<string, (client: Client) => Promise<void>> = {
  async follow(client) {
    await follow(client, PROMPT);
  },

  async answer(client) {
    const ask = await asked(client);
    if (ask.input?.kind.case !== "choice") throw new Error("The agent asked for no choice.");
    await follow(client, chosen(ask, ask.input.kind.value.options[0]?.id ?? ""));
  },

  async press(client) {
    await press(client, await asked(client));
  },

  /** Presses a button with a client that knows nothing of choices. */
  async "press-older"(client) {
    const transport = TRANSPORTS[protocol as keyof typeof TRANSPORTS]();
    const turns = createClient(turnServiceWithoutChoices(), transport);
    const ask = await asked({ ...client, turns });
    say({ knows: ask.input?.kind.case ?? null });
    await press({ ...client, turns }, ask);
  },

  async approve(client) {
    const { origin, toolName, toolArgsJson, ...ask } = await asked(client);
    say({ origin: AskOrigin[origin] ?? "", toolName, toolArgsJson });
    const content = { case: "confirm", value: { confirmed: true } } as const;
    const answer = { action: { case: "accept", value: { content } } } as const;
    await follow(client, {
      conversationId: ask.conversationId,
      input: { case: "answer", value: { toolCallId: ask.toolCallId, answer } },
    });
  },

  async document(client) {
    for await (const { event } of turnEvents(client, PROMPT)) {
      if (event.case !== "blocks") continue;
      for (const { block } of event.value.document?.blocks ?? []) {
        if (block.case === "heading") say({ heading: block.value.text });
        else say({ other: block.case ?? "" });
      }
    }
  },

  async refused(client) {
    const ask = await asked(client);
    await refused(client.turns.turn(chosen(ask, "no-such-option")));
    const following = turnEvents(client, { ...chosen(ask), conversationId: "no-such-id" });
    await refused(following.next());
    await press(client, ask);
    await refused(client.turns.turn(chosen(ask, "team")));
  },

  /** Uploads over gRPC, which `baseUrl` has to be for; downloads again. */
  async files(client) {
    const data = new TextEncoder().encode("a,b\n1,2\n".repeat(20_000));
    const { fileId } = await uploadFile(client, data, { filename: "plan.csv" });
    const got = await downloadFile(client, fileId);
    const same = Buffer.from(data).equals(Buffer.from(await got.data.arrayBuffer()));
    say({ filename: got.file.filename, type: got.data.type, same });
    await refused(uploadFile(client, new Uint8Array(200_000), { filename: "zeros.png" }));
    await refused(uploadFile(client, new Uint8Array(11 << 20), { filename: "large.txt" }));
    await refused(downloadFile(client, fileId.replace(/[0-9a-f]/g, "0")));
  },

  async renewed(client) {
    await refused(client.conversations.listConversations({}));
    const { conversations } = await client.conversations.listConversations({});
    say({ conversations: conversations.length });
  },
};

const play = SCENES[scene];
const client = CLIENTS[protocol];
if (!play || !client) throw new RangeError(`There is no scene "${scene}" over "${protocol}".`);
await play(client());
