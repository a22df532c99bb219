/** A question to approve or deny one action, and the approval of a tool's call. */

import type { AskAnswer, AskInput, ConfirmInput } from "@parley/client/v1/asks";
import { useId } from "preact/hooks";
import { CANCEL, confirmAnswer, DECLINE } from "./answers";
import type { AskFormProps } from "./ask_form";
import { isGuarded } from "./asked";
import { Frame } from "./frame";
import { PlainText } from "./plain_text";
import { SkipButton } from "./skip_button";
import { ToolCall } from "./tool_call";
import { useSending } from "./use_sending";
import { sentenceOf } from "./wording";

interface ConfirmAskProps extends AskFormProps {
  readonly input: AskInput;
  readonly confirm: ConfirmInput;
}

/** Shows the question. Both answers fit every confirm, so its buttons answer at once. */
export function ConfirmAsk({ ask, input, confirm, host }: ConfirmAskProps) {
  const id = useId();
  const sending = useSending();
  const send = (answer: AskAnswer) =>
    sending.run(async () => {
      const faults = await host.answer(answer);
      if (faults[0]) sending.fail(sentenceOf(input, faults[0]));
      return faults.length === 0;
    });
  const guarded = isGuarded(input, ask.origin);
  const shown = (text: string) => (guarded ? <PlainText text={text} /> : text);
  const { confirmLabel = "Confirm", denyLabel = "Cancel", destructive = false } = confirm;
  return (
    <Frame id={id} ask={ask} input={input} sending={sending} onDismiss={() => send(CANCEL)}>
      {ask.toolName && <ToolCall toolName={ask.toolName} toolArgsJson={ask.toolArgsJson} />}
      {destructive && (
        <p class="p-ask-warning" id={`${id}-warning`}>
          This deletes something or can't be undone.
        </p>
      )}
      <div class="p-ask-actions">
        <button
          type="button"
          class={`p-button ${destructive ? "p-button-danger" : "p-button-primary"}`}
          disabled={!sending.open}
          aria-describedby={destructive ? `${id}-warning` : undefined}
          onClick={() => send(confirmAnswer(true))}
        >
          {shown(confirmLabel)}
        </button>
        <button
          type="button"
          class="p-button"
          disabled={!sending.open}
          onClick={() => send(confirmAnswer(false))}
        >
          {shown(denyLabel)}
        </button>
        {input.allowDecline && <SkipButton sending={sending} onSkip={() => send(DECLINE)} />}
      </div>
    </Frame>
  );
}
