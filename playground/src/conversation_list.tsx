/** The list of conversations. */

import type { Conversation } from "@parley/client/v1/conversations";
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { conversationId } from "./conversation";
import { conversations, more, remove, showMore } from "./conversations";
import { DeleteDialog } from "./delete_dialog";
import { Icon } from "./icons";
import { closePanel } from "./panel";
import { open } from "./sync";

/** Lists the conversations, opens them, begins new ones and deletes old ones. */
export function ConversationList() {
  const doomed = useSignal<Conversation | undefined>(undefined);
  const enter = (id: string) => {
    closePanel();
    open(id);
  };
  const button = useRef<HTMLButtonElement>(null);
  const confirmed = async (id: string) => {
    doomed.value = undefined;
    await remove(id);
    // The button that had the focus went with its row.
    button.current?.focus();
  };
  return (
    <nav class="p-list" aria-label="Conversations">
      <button
        ref={button}
        type="button"
        class="p-button p-button-primary"
        onClick={() => enter("")}
      >
        <Icon name="plus" />
        New conversation
      </button>
      <Rows enter={enter} remove={(each) => (doomed.value = each)} />
      {more.value && (
        <button type="button" class="p-button" onClick={() => void showMore()}>
          Show more
        </button>
      )}
      {doomed.value && (
        <DeleteDialog
          title={titleOf(doomed.value)}
          onConfirm={() => void confirmed(doomed.value?.conversationId ?? "")}
          onCancel={() => (doomed.value = undefined)}
        />
      )}
    </nav>
  );
}

interface RowsProps {
  readonly enter: (id: string) => void;
  readonly remove: (conversation: Conversation) => void;
}

function Rows({ enter, remove }: RowsProps) {
  const rows = conversations.value;
  if (!rows) return <p class="p-quiet">Reading…</p>;
  if (rows.length === 0) return <p class="p-quiet">None yet. Say something to begin one.</p>;
  return (
    <ul class="p-list-rows">
      {rows.map((each) => (
        <li key={each.conversationId} class="p-list-row">
          <button
            type="button"
            class="p-list-open"
            aria-current={each.conversationId === conversationId.value ? "page" : undefined}
            onClick={() => enter(each.conversationId)}
          >
            <span class="p-list-title">{titleOf(each)}</span>
            <State conversation={each} />
          </button>
          <button
            type="button"
            class="p-icon-button"
            aria-label={`Delete “${titleOf(each)}”`}
            title="Delete"
            onClick={() => remove(each)}
          >
            <Icon name="trash" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function State({ conversation }: { readonly conversation: Conversation }) {
  const { pendingAsk, runningTurnId, retryableTurnId, updateTime } = conversation;
  if (runningTurnId) return <span class="p-list-state p-state-active">At work…</span>;
  if (pendingAsk) return <span class="p-list-state p-state-waiting">Waits for you</span>;
  if (retryableTurnId) return <span class="p-list-state p-state-failed">Failed</span>;
  return <span class="p-list-state">{updateTime && when(Number(updateTime.seconds) * 1000)}</span>;
}

/** Returns what heads a conversation. It has no title before the first reply, but may have a question. */
export function titleOf(conversation: Conversation | undefined): string {
  return conversation?.title || conversation?.pendingAsk?.input?.title || "Untitled conversation";
}

function when(ms: number): string {
  const time = new Date(ms);
  const today = new Date().toDateString() === time.toDateString();
  return today
    ? time.toLocaleTimeString(undefined, { timeStyle: "short" })
    : time.toLocaleDateString(undefined, { dateStyle: "medium" });
}
