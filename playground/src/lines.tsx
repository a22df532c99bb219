/** The lines of a chat. */

import { AskOrigin } from "@parley/client/v1/asks";
import { AnsweredAsk, Blocks, InvalidDocument, Markdown } from "@parley/renderer";
import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import { Attachment } from "./attachment";
import { blockHost } from "./block_host";
import { pending } from "./pending";
import type { Line } from "./transcript";
import type { Call } from "./turn";

type Of<Kind extends Line["kind"]> = Extract<Line, { kind: Kind }>;

/** Draws a line. */
export function ChatLine({ line }: { readonly line: Line }) {
  switch (line.kind) {
    case "said":
      return <SaidLine line={line} />;
    case "reply":
      return <ReplyLine line={line} />;
    case "call":
      return <CallLine call={line} />;
    case "file":
      return (
        <li class="p-line p-line-reply">
          <Attachment file={line.file} />
        </li>
      );
    case "ask":
      return <AskLine line={line} />;
  }
}

function SaidLine({ line: { text, files } }: { readonly line: Of<"said"> }) {
  return (
    <li class="p-line p-line-said">
      <span class="p-unseen">You: </span>
      <div class="p-bubble">
        {text && <p>{text}</p>}
        {files.map((file) => (
          <Attachment key={file.fileId} file={file} />
        ))}
      </div>
    </li>
  );
}

function ReplyLine({ line }: { readonly line: Of<"reply"> }) {
  const { turnId, document, text, writing, errors, broken } = line;
  const host = useMemo(() => blockHost(turnId), [turnId]);
  return (
    <li class="p-line p-line-reply" aria-busy={writing}>
      <span class="p-unseen">The agent: </span>
      {document ? (
        <Blocks document={document} pending={writing} host={host} />
      ) : errors.length > 0 || DOCUMENT.test(text) ? (
        <InvalidDocument errors={errors} text={text} />
      ) : (
        <Words text={text} />
      )}
      {broken && <p class="p-broken">The reply broke off here.</p>}
    </li>
  );
}

/** Begins a document. One that is stored as text and breaks no rules broke off. */
const DOCUMENT = /^\s*(```\w*\s+)?(---\s+)?(v:\s|\{\s*"v"\s*:)/;

/** Is drawn anew when the text changes, which is dear for a long one. */
const Words = memo(Markdown);

function AskLine({ line: { ask, answer, action, toolName } }: { readonly line: Of<"ask"> }) {
  const approval = ask.origin === AskOrigin.APPROVAL;
  return (
    <li class="p-line p-line-ask">
      <AnsweredAsk
        input={ask.input}
        answer={answer}
        action={action}
        origin={ask.origin}
        toolName={approval ? toolName : ""}
        toolArgsJson={ask.toolArgsJson}
      />
    </li>
  );
}

const STATES: Readonly<Record<Call["state"], string>> = {
  running: "at work…",
  open: "has no result",
  done: "done",
  failed: "failed",
  denied: "not approved",
};

function CallLine({ call }: { readonly call: Call }) {
  const { toolName, argsJson, resultJson, state } = call;
  const asks = pending.value?.origin === AskOrigin.APPROVAL && pending.value.toolName === toolName;
  const waits = asks && (state === "running" || state === "open");
  return (
    <li class="p-line p-line-call">
      <details>
        <summary>
          <span class={`p-dot p-dot-${waits ? "open" : state}`} aria-hidden="true" />
          <code>{toolName}</code> <span>{waits ? "waits for your approval" : STATES[state]}</span>
        </summary>
        {argsJson && <Json title="Called with" text={argsJson} />}
        {resultJson && <Json title="Result" text={resultJson} />}
      </details>
    </li>
  );
}

function Json({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div class="p-json">
      <h3>{title}</h3>
      {/* The text as it is: read as numbers, large ones would change. */}
      <pre>{text}</pre>
    </div>
  );
}
