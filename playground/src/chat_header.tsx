/** Heads the chat, and gives it another title. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { conversationId, stored } from "./conversation";
import { titleOf } from "./conversation_list";
import { conversations, rename } from "./conversations";
import { Icon } from "./icons";

const LONGEST_TITLE = 200;

/** Shows the title. */
export function ChatHeader() {
  const editing = useSignal(false);
  const id = conversationId.value;
  // The list hears of a new title at least as soon.
  const listed = conversations.value?.find((each) => each.conversationId === id);
  const title = titleOf(listed ?? stored.value?.conversation);
  useEffect(() => {
    editing.value = false;
  }, [id]);
  useEffect(() => {
    document.title = id ? `${title} – Parley` : "Parley playground";
  }, [id, title]);
  if (editing.value) {
    const done = (to?: string) => {
      editing.value = false;
      if (to !== undefined) void rename(id, to);
    };
    return <TitleForm title={listed?.title ?? ""} onDone={done} />;
  }
  return (
    <div class="p-chat-header">
      <h2>{id ? title : "New conversation"}</h2>
      {id && (
        <button
          type="button"
          class="p-icon-button"
          aria-label="Change the title"
          title="Change the title"
          onClick={() => {
            editing.value = true;
          }}
        >
          <Icon name="edit" />
        </button>
      )}
    </div>
  );
}

interface TitleFormProps {
  readonly title: string;
  readonly onDone: (title?: string) => void;
}

function TitleForm({ title, onDone }: TitleFormProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  return (
    <form
      class="p-chat-header"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(input.current?.value.trim() ?? "");
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onDone();
      }}
    >
      <input
        ref={input}
        class="p-title-input"
        aria-label="Title of the conversation"
        maxLength={LONGEST_TITLE}
        defaultValue={title}
      />
      <button type="submit" class="p-button p-button-primary">
        Save
      </button>
      <button type="button" class="p-button" onClick={() => onDone()}>
        Cancel
      </button>
    </form>
  );
}
