/** A turn as its events tell of it: old state and event make the new state, and nothing else does. */

import type { BlockDocument, BlockIssue } from "@parley/client/v1/blocks";
import type { MediaPart } from "@parley/client/v1/conversations";
import type {
  AskAsked,
  AskResolved,
  GeneratedFile,
  ToolCall,
  ToolResult,
  TurnDone,
  TurnError,
  TurnEvent,
} from "@parley/client/v1/turns";

/** What the person wrote, shown before the server has stored it. */
export interface Said {
  readonly text: string;
  readonly files: readonly Pick<MediaPart, "fileId" | "filename" | "mimeType">[];
}

/** A call of a tool that is no ask, with its result once it has one. */
export interface Call {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly argsJson: string;
  readonly resultJson: string;
  /** Is `open` where the call has no result, and nobody says that it runs. */
  readonly state: "running" | "open" | "done" | "failed" | "denied";
}

/** The reply, as much as there is of it. */
export interface Reply {
  readonly text: string;
  readonly document: BlockDocument | undefined;
  /** Says that the agent is still at it, so that all of this may be withdrawn. */
  readonly writing: boolean;
  /** Says which rules of documents it breaks. */
  readonly errors: readonly BlockIssue[];
}

/** A turn that is followed. */
export interface Turn {
  /** Is empty until the server has stored the turn. */
  readonly turnId: string;
  readonly said: Said | undefined;
  readonly reply: Reply | undefined;
  readonly calls: readonly Call[];
  readonly files: readonly GeneratedFile[];
  /** Is what this turn did with the ask before it: which one it answered or dropped. */
  readonly resolved: Pick<AskResolved, "toolCallId" | "action"> | undefined;
  readonly ask: AskAsked | undefined;
  readonly error: TurnError | undefined;
  readonly done: TurnDone | undefined;
}

/** Returns a turn of which nothing is known but what the person said. */
export function begun(said?: Said): Turn {
  return {
    turnId: "",
    said,
    reply: undefined,
    calls: [],
    files: [],
    resolved: undefined,
    ask: undefined,
    error: undefined,
    done: undefined,
  };
}

/** Returns the turn as it is after an event. */
export function after(before: Turn, news: TurnEvent): Turn {
  const turn = { ...before, turnId: news.turnId, reply: settled(before, news) };
  const { event } = news;
  switch (event.case) {
    case "textPreview": {
      const text = (turn.reply?.text ?? "") + event.value.delta;
      return { ...turn, reply: { text, document: undefined, writing: true, errors: [] } };
    }
    case "blocksPreview": {
      const { document } = event.value;
      return { ...turn, reply: { text: "", document, writing: true, errors: [] } };
    }
    case "text":
    case "textReplaced": {
      // A preview of the document stays until `blocks` brings the whole one: its text is not for people.
      const document = before.reply?.document;
      const { text } = event.value;
      return { ...turn, reply: { text, document, writing: document !== undefined, errors: [] } };
    }
    case "blocks": {
      const { document, errors } = event.value;
      const text = before.reply?.text ?? "";
      return { ...turn, reply: { text, document, writing: false, errors } };
    }
    case "askResolved":
      return { ...turn, resolved: event.value };
    case "toolCall":
      return { ...turn, calls: [...turn.calls, called(event.value)] };
    case "toolResult":
      return { ...turn, calls: withResult(turn.calls, event.value) };
    case "file":
      return { ...turn, files: [...turn.files, event.value] };
    case "ask":
      return { ...turn, ask: event.value };
    case "error":
      return { ...turn, error: event.value };
    case "done":
      return { ...turn, done: event.value };
    default:
      return turn;
  }
}

/** Returns the reply without what the event withdraws: every numbered event ends the previews before it. */
function settled({ reply }: Turn, { sequence, event }: TurnEvent): Reply | undefined {
  if (event.case === "previewDiscarded") return undefined;
  return sequence > 0 && reply?.writing ? undefined : reply;
}

function called({ toolCallId, toolName, argsJson }: ToolCall): Call {
  return { toolCallId, toolName, argsJson, resultJson: "", state: "running" };
}

/** Returns the calls with a result. The call itself may have been in the turn that asked for approval. */
function withResult(calls: readonly Call[], result: ToolResult): readonly Call[] {
  const { toolCallId, toolName, resultJson, isError, denied } = result;
  const state = denied ? "denied" : isError ? "failed" : "done";
  const ended = { toolCallId, toolName, argsJson: "", resultJson, state } as const;
  if (!calls.some((call) => call.toolCallId === toolCallId)) return [...calls, ended];
  return calls.map((call) =>
    call.toolCallId === toolCallId ? { ...ended, argsJson: call.argsJson } : call,
  );
}
