/** What a person can press. */

import type {
  ActionsBlock,
  Block,
  BlockElement,
  ButtonElement,
  CallbackAction,
  SegmentedElement,
} from "@parley/client/v1/blocks";
import { ButtonElement_Variant as Variant } from "@parley/client/v1/blocks";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { whyOf } from "../why";
import { Blocks, useFocusOn } from "./blocks";
import { Results } from "./results";
import { Segmented } from "./segmented";
import { useStage } from "./stage";
import { openTarget } from "./targets";

const VARIANTS: Partial<Record<Variant, string>> = {
  [Variant.PRIMARY]: "p-b-button-primary",
  [Variant.OUTLINE]: "p-b-button-outline",
  [Variant.GHOST]: "p-b-button-ghost",
  [Variant.DESTRUCTIVE]: "p-b-button-destructive",
};

/** How the last press of a block's buttons goes. */
interface Press {
  readonly elementId: string;
  readonly state: "running" | "done" | "failed";
  readonly message: string;
}

/** Shows the buttons of a block, and below or in place of them what they came to. */
export function Actions({ block, actions }: { block: Block; actions: ActionsBlock }) {
  const stage = useStage();
  const outcome = stage.outcome(block.id);
  const replaced = useFocusOn(outcome?.instead === true ? outcome.document : undefined);
  const result = outcome?.document && (
    <Blocks
      document={outcome.document}
      host={stage.host}
      level={stage.level(block)}
      onReplaceMessage={stage.replaceMessage}
    />
  );
  return (
    <div class="p-b-actions-block">
      {outcome?.instead ? (
        <div ref={replaced} tabIndex={-1}>
          {result}
        </div>
      ) : (
        <>
          <Elements block={block} elements={actions.elements} />
          {result}
        </>
      )}
      <Results texts={outcome?.texts ?? []} />
    </div>
  );
}

function Elements({ block, elements }: { block: Block; elements: readonly BlockElement[] }) {
  const stage = useStage();
  const [press, setPress] = useState<Press>();
  const running = press?.state === "running";

  async function run(elementId: string, callback: CallbackAction): Promise<void> {
    setPress({ elementId, state: "running", message: "" });
    try {
      const answer = await stage.host.run(block.id, elementId, callback);
      const silent = answer.text === "" && answer.blocks === undefined;
      setPress({ elementId, state: "done", message: silent ? "Done." : "" });
      stage.settle(block.id, answer);
    } catch (error) {
      const message = whyOf(error, "This didn't work. Try again.");
      setPress({ elementId, state: "failed", message });
    }
  }

  return (
    <>
      <div class="p-b-actions">
        {elements.map(({ id, element }) => {
          switch (element.case) {
            case "button":
              return (
                <ActionButton
                  key={id}
                  button={element.value}
                  running={running && press.elementId === id}
                  waiting={running || stage.pending}
                  onRun={(callback) => void run(id, callback)}
                />
              );
            case "segmented":
              return <SegmentedFor key={id} element={element.value} />;
            default:
              return null;
          }
        })}
      </div>
      <p class="p-b-action-status" role="status">
        {press?.state === "running" ? "Working…" : press?.state === "done" ? press.message : ""}
      </p>
      {press?.state === "failed" && (
        <p class="p-b-error" role="alert">
          {press.message}
        </p>
      )}
    </>
  );
}

function SegmentedFor({ element }: { element: SegmentedElement }) {
  const stage = useStage();
  const target = stage.target(element.target);
  return (
    <Segmented
      element={element}
      label={titleOf(target)}
      shown={target && stage.shown(target)}
      canShow={(data) => stage.canSwitch(element.target, data)}
      onShow={(data) => stage.switchTo(element.target, data)}
    />
  );
}

function titleOf(target: Block | undefined): string {
  const { block } = target ?? {};
  return block?.case === "chart" || block?.case === "table" ? block.value.title : "";
}

function ActionButton(props: {
  button: ButtonElement;
  running: boolean;
  /** Says that a press would not be taken: another runs, or the message is not stored yet. */
  waiting: boolean;
  onRun: (callback: CallbackAction) => void;
}) {
  const { button, running, waiting, onRun } = props;
  const stage = useStage();
  const action = button.action?.action;
  const looks = {
    text: button.text,
    variant: VARIANTS[button.variant] ?? "p-b-button-secondary",
  };
  switch (action?.case) {
    case "reply": {
      const { text } = action.value;
      return <PressButton {...looks} active={!waiting} onPress={() => stage.host.reply(text)} />;
    }
    case "open": {
      const target = openTarget(action.value);
      return target === undefined ? (
        <PressButton {...looks} active={false} note="leads to no page that can be opened" />
      ) : (
        <PressButton
          {...looks}
          active
          note={target.where}
          title={target.whole}
          onPress={() => stage.host.open(target.open)}
        />
      );
    }
    case "select": {
      const { target, data } = action.value;
      const block = stage.target(target);
      return (
        <PressButton
          {...looks}
          active={stage.canSwitch(target, data)}
          pressed={block !== undefined && stage.shown(block) === data}
          onPress={() => stage.switchTo(target, data)}
        />
      );
    }
    case "callback": {
      const callback = action.value;
      return (
        <PressButton {...looks} active={!waiting} busy={running} onPress={() => onRun(callback)} />
      );
    }
    default:
      return <PressButton {...looks} active={false} note="needs a newer version of this page" />;
  }
}

function PressButton(props: {
  text: string;
  variant: string;
  active: boolean;
  busy?: boolean;
  pressed?: boolean;
  note?: string;
  title?: string;
  onPress?: () => void;
}): ComponentChildren {
  const { active, busy = false } = props;
  // Not `disabled`, with which a button that is pressed would lose the focus.
  return (
    <button
      type="button"
      class={`p-b-button ${props.variant}`}
      aria-disabled={!active}
      aria-busy={busy}
      aria-pressed={props.pressed}
      title={props.title}
      onClick={() => active && props.onPress?.()}
    >
      {busy && <span class="p-b-spinner" aria-hidden="true" />}
      <span class="p-b-button-text">
        {props.text}
        {props.note !== undefined && <small> {props.note}</small>}
      </span>
    </button>
  );
}
