/** Where the person writes. */

import { EVERY_FILE } from "@parley/renderer";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { attach, attached, detach, MOST_FILES, ready, sent, text } from "./draft";
import type { Uploaded } from "./files";
import { busy } from "./following";
import { Icon } from "./icons";
import { pending } from "./pending";
import { send } from "./sending";

/** Names the box, for the link that skips to it. */
export const COMPOSER_ID = "composer";

/** Takes a message of several lines, with files. */
export function Composer() {
  const box = useRef<HTMLTextAreaElement>(null);
  const sending = useSignal(false);
  const submit = async () => {
    if (!ready.peek() || busy.peek() || sending.peek()) return;
    sending.value = true;
    const draft = { text: text.peek(), attached: attached.peek() };
    const files = draft.attached.flatMap(({ uploaded }): Uploaded[] =>
      uploaded ? [uploaded] : [],
    );
    await send(draft.text.trim(), files, () => sent(draft));
    sending.value = false;
  };
  const press = (event: KeyboardEvent) => {
    // Enter that ends a composed character is none that sends.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit();
  };
  useGrowing(box, text.value);
  return (
    <form
      class="p-composer"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        attach(event.dataTransfer?.files ?? []);
      }}
    >
      <Files />
      <div class="p-composer-row">
        <Picker />
        <textarea
          ref={box}
          id={COMPOSER_ID}
          rows={1}
          value={text.value}
          readOnly={sending.value}
          aria-label="Message to the agent"
          aria-describedby="composer-help"
          placeholder={pending.value ? "Or say something else" : "Message the agent"}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
          onKeyDown={press}
          onPaste={(event) => {
            const files = event.clipboardData?.files ?? [];
            if (files.length === 0) return;
            event.preventDefault();
            attach(files);
          }}
        />
        <button
          type="submit"
          class="p-send"
          aria-label="Send"
          title="Send"
          disabled={!ready.value || busy.value || sending.value}
        >
          <Icon name="send" />
        </button>
      </div>
      <p id="composer-help" class="p-help">
        {help()}
      </p>
    </form>
  );
}

function help(): string {
  if (attached.value.length > 0 && !text.value.trim()) return "Say what the files are for.";
  if (pending.value) return "A message sets the question above aside.";
  return "Enter sends, Shift and Enter begins a new line.";
}

function Picker() {
  const input = useRef<HTMLInputElement>(null);
  const full = attached.value.length >= MOST_FILES;
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={EVERY_FILE}
        aria-label="Files for the agent"
        onChange={(event) => {
          attach(event.currentTarget.files ?? []);
          event.currentTarget.value = "";
        }}
      />
      <button
        type="button"
        class="p-icon-button"
        aria-label="Attach files"
        title={full ? `A message brings at most ${MOST_FILES} files` : "Attach files"}
        disabled={full}
        onClick={() => input.current?.click()}
      >
        <Icon name="attach" />
      </button>
    </>
  );
}

function Files() {
  if (attached.value.length === 0) return null;
  return (
    <ul class="p-attached" aria-label="Files that go with the message">
      {attached.value.map(({ key, name, uploaded, fault }) => (
        <li key={key} class={fault ? "p-attached-fault" : ""}>
          <span>
            {name}
            <span class="p-attached-state" role={fault ? "alert" : "status"}>
              {fault || (uploaded ? "" : "uploading…")}
            </span>
          </span>
          <button
            type="button"
            class="p-icon-button"
            aria-label={`Take “${name}” away`}
            onClick={() => detach(key)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Lets a box grow with its text, up to what the stylesheet allows. */
function useGrowing(box: { readonly current: HTMLTextAreaElement | null }, said: string): void {
  useEffect(() => {
    if (!box.current) return;
    box.current.style.height = "";
    if (said) box.current.style.height = `${box.current.scrollHeight}px`;
  }, [box, said]);
}
