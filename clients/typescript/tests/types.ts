/** What the types say, for `tsc` alone: nobody runs this. */

import type { Block } from "../src/gen/parley/v1/blocks_pb.js";
import { type Client, cardAnswer, connect, type ParleyError, turnEvents } from "../src/index.js";
import { connect as connectGrpc } from "../src/node.js";

export const clients: Client[] = [
  connect({ baseUrl: "https://parley.example", token: "token" }),
  connect({ baseUrl: "https://parley.example", token: () => "token" }),
  connectGrpc({ baseUrl: "https://parley.example", token: async () => "token", tls: { ca: "…" } }),
];

// @ts-expect-error - nobody calls without a token
connect({ baseUrl: "https://parley.example" });

export async function events(client: Client, error: ParleyError): Promise<void> {
  const prompt = { case: "prompt", value: { text: "Hello" } } as const;
  for await (const { event } of turnEvents(client, { input: prompt })) {
    // @ts-expect-error - which event it is has to be asked first
    event.value.text;
    if (event.case === "text") event.value.text satisfies string;
    if (event.case !== "ask") continue;
    const input = cardAnswer(event.value, "option:team");
    const { conversationId } = event.value;
    for await (const _ of turnEvents(client, { conversationId, input })) break;
    await client.turns.turn({ conversationId, input });
  }
  turnEvents(client, { conversationId: "c", turnId: "t", afterSequence: 3 });

  // @ts-expect-error - a turn has one input, which says its case
  turnEvents(client, { input: { value: { text: "Hello" } } });
  // @ts-expect-error - there is no such call
  await client.turns.sing({});
  // @ts-expect-error - it says what is, and is not changed
  error.reason = "OTHER";
}

/** Has a branch for every block: a new one without a branch is an error here. */
export function name({ block }: Block): string {
  switch (block.case) {
    case "heading":
    case "badge":
    case "context":
      return block.value.text;
    case "text":
    case "metric":
    case "divider":
    case "chart":
    case "table":
    case "actions":
    case "columns":
    case "card":
    case "html":
    case "callout":
    case "image":
    case "details":
      return block.case;
    case undefined:
      return "newer than me";
    default:
      return block satisfies never;
  }
}
