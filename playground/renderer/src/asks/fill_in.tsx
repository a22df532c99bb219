/** A question that is filled in and submitted: every kind but confirm. */

import type { AskAnswer, AskFieldError, AskInput } from "@parley/client/v1/asks";
import type { TargetedKeyboardEvent, TargetedSubmitEvent } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { answerOf, CANCEL, DECLINE } from "./answers";
import type { AskFormProps } from "./ask_form";
import { ChoiceFields } from "./choice_fields";
import type { Draft, FilesDraft } from "./drafts";
import { type Fault, faultsOf } from "./faults";
import { FilesFields } from "./files_fields";
import { FormFields } from "./form_fields";
import { Frame } from "./frame";
import { MarkdownFields } from "./markdown_fields";
import { byPlace, placesOf } from "./places";
import type { Controls } from "./problem";
import { SkipButton } from "./skip_button";
import { useSending } from "./use_sending";
import { useVerdict, type Verdict } from "./use_verdict";
import { sentenceOf } from "./wording";

interface FillInProps extends AskFormProps {
  readonly input: AskInput;
  readonly first: Draft;
}

interface Refused {
  readonly answer: AskAnswer;
  readonly faults: readonly AskFieldError[];
}

/** Shows the question. Submit is enabled exactly when the server would take the answer. */
export function FillIn({ ask, input, first, host }: FillInProps) {
  const id = useId();
  const [draft, setDraft] = useState(first);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [pressed, setPressed] = useState(false);
  const [refused, setRefused] = useState<Refused>();
  const sending = useSending();
  const local = useMemo(() => faultsOf(input, draft), [input, draft]);
  const answer = useMemo(() => answerOf(input, draft), [input, draft]);
  const verdict = useVerdict(local.length === 0 ? answer : undefined, host);
  const refusal = refused?.answer === answer ? refused.faults : undefined;
  const faults = local.length > 0 ? local : (refusal ?? knownFaults(verdict));
  const ready = sending.open && !refusal && verdict.is === "given" && verdict.faults.length === 0;
  const { form, seek } = useFirstProblem();

  const send = (given: AskAnswer) =>
    sending.run(async () => {
      const found = await host.answer(given);
      if (found.length === 0) return true;
      if (given === answer) {
        setRefused({ answer, faults: found });
        seek();
      } else {
        sending.fail(found.map((fault) => sentenceOf(input, fault)).join(" "));
      }
      return false;
    });
  const holdPress = usePressHeld(answer, verdict, () => (ready ? send(answer) : seek()));
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!sending.open) return;
    setPressed(true);
    if (ready) send(answer);
    else if (verdict.is === "out") holdPress();
    else seek();
  };

  const placed = useMemo(() => byPlace(faults, placesOf(input, draft)), [faults, input, draft]);
  const said = (path: string) =>
    (placed.get(path) ?? []).map((fault) => sentenceOf(input, fault)).join(" ");
  const controls: Controls = {
    problemAt: (path) => (pressed || touched.has(path) ? said(path) : ""),
    touch: (path) =>
      setTouched((before) => (before.has(path) ? before : new Set([...before, path]))),
  };
  return (
    <Frame id={id} ask={ask} input={input} sending={sending} onDismiss={() => send(CANCEL)}>
      <form class="p-ask-form" ref={form} noValidate onSubmit={submit} onKeyDown={submitByKeys}>
        <fieldset class="p-bare" disabled={!sending.open} aria-labelledby={`${id}-prompt`}>
          {fieldsOf({ id, input, draft, setDraft, controls, host })}
        </fieldset>
        <General text={said("")} verdict={verdict} />
        <div class="p-ask-actions">
          {/* Not `disabled`: with the keyboard one still gets there, and a press says what is missing. */}
          <button
            type="submit"
            class="p-button p-button-primary"
            aria-disabled={!ready}
            aria-busy={verdict.is === "out" || (!sending.open && !sending.done)}
          >
            {input.submitLabel ?? "Submit"}
          </button>
          {input.allowDecline !== false && (
            <SkipButton sending={sending} onSkip={() => send(DECLINE)} />
          )}
        </div>
      </form>
    </Frame>
  );
}

interface FieldsProps extends Pick<AskFormProps, "host"> {
  readonly id: string;
  readonly input: AskInput;
  readonly draft: Draft;
  readonly setDraft: (change: (before: Draft) => Draft) => void;
  readonly controls: Controls;
}

function fieldsOf({ id, input: { kind }, draft, setDraft, controls, host }: FieldsProps) {
  if (kind.case === "choice" && draft.kind === "choice") {
    const set = (next: typeof draft) => setDraft(() => next);
    return <ChoiceFields id={id} choice={kind.value} draft={draft} onDraft={set} {...controls} />;
  }
  if (kind.case === "markdown" && draft.kind === "markdown") {
    const set = (next: typeof draft) => setDraft(() => next);
    return (
      <MarkdownFields id={id} markdown={kind.value} draft={draft} onDraft={set} {...controls} />
    );
  }
  if (kind.case === "form" && draft.kind === "form") {
    const set = (next: typeof draft) => setDraft(() => next);
    return <FormFields form={kind.value} draft={draft} onDraft={set} {...controls} />;
  }
  if (kind.case === "files" && draft.kind === "files") {
    // Uploads end at any time, so they change the draft that is there by then.
    const change = (next: (before: FilesDraft) => FilesDraft) =>
      setDraft((before) => (before.kind === "files" ? next(before) : before));
    return (
      <FilesFields files={kind.value} draft={draft} onDraft={change} host={host} {...controls} />
    );
  }
  return null;
}

/** Shows what is wrong with the answer as a whole, and that nobody could be asked. */
function General({ text, verdict }: { readonly text: string; readonly verdict: Verdict }) {
  return (
    <>
      {text && (
        <p class="p-problem" role="alert">
          {text}
        </p>
      )}
      {verdict.is === "failed" && (
        <p class="p-problem" role="alert">
          Your answer could not be checked: {verdict.why}{" "}
          <button type="button" class="p-button p-button-small" onClick={verdict.again}>
            Check again
          </button>
        </p>
      )}
    </>
  );
}

function knownFaults(verdict: Verdict): readonly Fault[] {
  if (verdict.is === "given") return verdict.faults;
  // A problem stays where it is until the server says that it is gone; else it would blink.
  return verdict.is === "out" ? verdict.before : [];
}

/** Returns the form's ref, and a function that moves the focus to the first problem once it shows. */
function useFirstProblem() {
  const form = useRef<HTMLFormElement>(null);
  const [sought, setSought] = useState(0);
  useEffect(() => {
    if (sought === 0) return;
    form.current
      ?.querySelector<HTMLElement>("[data-problem] :is(input, textarea, select, button)")
      ?.focus();
  }, [sought]);
  return { form, seek: () => setSought((count) => count + 1) };
}

/**
 * Returns a function that keeps a press for the moment the verdict is there. Who types and presses
 * Enter is faster than the server; what is sent is what was on the screen at the press, or nothing.
 */
function usePressHeld(answer: AskAnswer, verdict: Verdict, press: () => void): () => void {
  const [held, hold] = useState<AskAnswer>();
  useEffect(() => {
    if (!held || (held === answer && verdict.is === "out")) return;
    hold(undefined);
    if (held === answer) press();
  }, [held, answer, verdict.is]);
  return () => hold(answer);
}

function submitByKeys(event: TargetedKeyboardEvent<HTMLFormElement>): void {
  const inText = event.target instanceof HTMLTextAreaElement;
  if (inText && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    event.currentTarget.requestSubmit();
  }
}
