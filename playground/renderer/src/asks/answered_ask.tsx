/** A question that is done with: one line, which opens to the whole. */

import { AskAction, type AskAnswer, type AskInput, AskOrigin } from "@parley/client/v1/asks";
import { Markdown } from "../text/markdown";
import { answerLine, formLines, isGranted, markdownText } from "./answered";
import { isGuarded } from "./asked";
import { PlainText } from "./plain_text";
import { ToolCall } from "./tool_call";

/** What is known of a question that is done with. */
export interface AnsweredAskProps {
  /** Is what was asked: `ask.input` of the call's message. Undefined where the call is not at hand. */
  readonly input: AskInput | undefined;
  /** Is the answer: `ask.answer` of the result's message. Undefined where it is not known. */
  readonly answer?: AskAnswer | undefined;
  /** Is what was done with the question, where that is all one knows of the answer. */
  readonly action?: AskAction;
  readonly origin?: AskOrigin;
  /** Names the tool that an approval guards. */
  readonly toolName?: string;
  /** Are the arguments of that tool, as JSON text. */
  readonly toolArgsJson?: string;
}

/** Shows what was asked and what came of it. */
export function AnsweredAsk(props: AnsweredAskProps) {
  const { input, answer, action = AskAction.UNSPECIFIED, origin = AskOrigin.UNSPECIFIED } = props;
  const guarded = input !== undefined && isGuarded(input, origin);
  const shown = (text: string) => (guarded ? <PlainText text={text} /> : text);
  const lines = formLines(input, answer);
  const markdown = markdownText(answer);
  return (
    <details class={isGranted(answer, action) ? "p-answered p-answered-granted" : "p-answered"}>
      <summary>
        <span class="p-answered-asked" dir="auto">
          {shown(input?.title ?? input?.prompt ?? "A question")}
        </span>{" "}
        <span class="p-answered-answer" dir="auto">
          {shown(answerLine(input, answer, action))}
        </span>
      </summary>
      <div class="p-answered-whole">
        {input && (
          <p class="p-ask-prompt" dir="auto">
            {shown(input.prompt)}
          </p>
        )}
        {props.toolName && (
          <ToolCall toolName={props.toolName} toolArgsJson={props.toolArgsJson ?? ""} />
        )}
        {markdown !== undefined && <Markdown text={markdown} level={4} />}
        {lines.length > 0 ? (
          <dl class="p-answered-lines">
            {lines.map(({ label, text }) => (
              <div key={label}>
                <dt dir="auto">{label}</dt>
                <dd dir="auto">{text}</dd>
              </div>
            ))}
          </dl>
        ) : (
          <p class="p-answered-text" dir="auto">
            {shown(answerLine(input, answer, action))}
          </p>
        )}
      </div>
    </details>
  );
}
