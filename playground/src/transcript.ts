/** A conversation as lines to draw, from its stored messages and the turn that is followed. */

import { AskAction, type AskAnswer } from "@parley/client/v1/asks";
import {
  type MediaPart,
  type Message,
  Message_Status,
  Message_Type,
  type MessageAsk,
  MessageAsk_Status,
} from "@parley/client/v1/conversations";
import type { GeneratedFile } from "@parley/client/v1/turns";
import { readReply } from "./stored_reply";
import type { Call, Reply, Said, Turn } from "./turn";

/** A line of the chat. Its key is the same before and after it is stored, so that nothing is drawn anew. */
export type Line = { readonly key: string } & (
  | ({ readonly kind: "said" } & Said)
  | ({ readonly kind: "reply"; readonly turnId: string; readonly broken: boolean } & Reply)
  | ({ readonly kind: "call" } & Call)
  | { readonly kind: "file"; readonly file: Pick<MediaPart, "fileId" | "filename" | "mimeType"> }
  | {
      readonly kind: "ask";
      readonly toolCallId: string;
      readonly ask: MessageAsk;
      readonly toolName: string;
      readonly answer: AskAnswer | undefined;
      /** Is what was done with the ask, where that is all that is known of the answer. */
      readonly action: AskAction;
    }
);

/**
 * Returns the lines of a conversation, the oldest first.
 *
 * The pending ask is none of them: it is a form, not a line. What a followed turn did comes from the
 * turn alone, even where it is stored already, so that nothing is there twice.
 */
export function linesOf(messages: readonly Message[], turn?: Turn): Line[] {
  const shown = messages.filter((message) => !message.superseded);
  const results = new Map(
    shown
      .filter((message) => message.type === Message_Type.TOOL_RESULT)
      .map((message) => [message.toolCallId, message]),
  );
  const followed = (message: Message) => turn?.turnId === message.turnId;
  const heard = shown.some((each) => followed(each) && each.type === Message_Type.USER);
  return [
    ...shown.flatMap((message) => {
      const own = followed(message) && message.type !== Message_Type.USER && !message.ask;
      if (own) return [];
      return stored(message, results.get(message.toolCallId), turn);
    }),
    ...(turn ? running(turn, heard) : []),
  ];
}

function stored(message: Message, result: Message | undefined, turn: Turn | undefined): Line[] {
  const { turnId, toolCallId, toolName, argsJson, text } = message;
  switch (message.type) {
    case Message_Type.USER:
      return [{ kind: "said", key: `said:${turnId}`, text, files: mediaOf(message) }];
    case Message_Type.ASSISTANT:
      return [replied(message)];
    case Message_Type.TOOL_CALL: {
      if (message.ask) return answered(message, result, turn);
      // The turn that is followed shows the calls whose results it brings.
      if (turn?.calls.some((call) => call.toolCallId === toolCallId)) return [];
      const resultJson = result?.resultJson ?? "";
      const call = { toolCallId, toolName, argsJson, resultJson, state: stateOf(result) };
      return [{ kind: "call", key: `call:${toolCallId}`, ...call }];
    }
    case Message_Type.TOOL_RESULT:
      return mediaOf(message).map((file, index) => ({
        kind: "file",
        key: `file:${toolCallId}:${index}`,
        file,
      }));
    default:
      return [];
  }
}

function replied(message: Message): Line {
  const { turnId, blocks: document } = message;
  const { text, errors } = readReply(message.text);
  const broken = message.status === Message_Status.ERROR;
  const key = `reply:${turnId}`;
  return { kind: "reply", key, turnId, broken, text, document, writing: false, errors };
}

function answered(message: Message, result: Message | undefined, turn: Turn | undefined): Line[] {
  const { toolCallId, toolName, ask } = message;
  if (!ask) return [];
  const resolved = turn?.resolved?.toolCallId === toolCallId ? turn.resolved : undefined;
  if (ask.status === MessageAsk_Status.PENDING && !resolved) return [];
  const dropped = ask.status === MessageAsk_Status.CANCELLED;
  // The answer itself is read when the turn ends.
  const action = resolved?.action ?? (dropped ? AskAction.CANCEL : AskAction.UNSPECIFIED);
  const answer = result?.ask?.answer;
  return [{ kind: "ask", key: `ask:${toolCallId}`, toolCallId, toolName, ask, answer, action }];
}

function running(turn: Turn, heard: boolean): Line[] {
  const { turnId, said, reply, calls, files, error } = turn;
  return [
    ...(said && !heard ? [{ kind: "said", key: `said:${turnId}`, ...said } as const] : []),
    ...calls.map((call) => ({ kind: "call", key: `call:${call.toolCallId}`, ...call }) as const),
    ...files.map((file, index) => generated(file, index)),
    ...(reply
      ? [{ kind: "reply", key: `reply:${turnId}`, turnId, broken: !!error, ...reply } as const]
      : []),
  ];
}

function generated({ filename, mimeType, source, toolCallId }: GeneratedFile, index: number): Line {
  const fileId = source.value ?? "";
  return {
    kind: "file",
    key: `file:${toolCallId}:${index}`,
    file: { fileId, filename, mimeType },
  };
}

function stateOf(result: Message | undefined): Call["state"] {
  if (!result) return "open";
  const told = objectOf(result.resultJson);
  if (told.approved === false) return "denied";
  return "error" in told ? "failed" : "done";
}

function objectOf(json: string): { readonly approved?: unknown; readonly error?: unknown } {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function mediaOf(message: Message): MediaPart[] {
  return message.content.flatMap(({ part }) =>
    part.case === "image" || part.case === "file" ? [part.value] : [],
  );
}
