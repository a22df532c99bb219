/** What the person is writing, with the files that are to go with it. */

import { computed, signal } from "@preact/signals";
import { type Uploaded, upload } from "./files";

/** A file that goes with the message. */
export interface Attached {
  readonly key: number;
  readonly name: string;
  readonly uploaded: Uploaded | undefined;
  /** Says why it could not be uploaded. */
  readonly fault: string;
  readonly leaving: AbortController;
}

/** A message as it was at some moment. */
export interface Draft {
  readonly text: string;
  readonly attached: readonly Attached[];
}

/** The most files that a message may bring. */
export const MOST_FILES = 10;

/** Is the text. */
export const text = signal("");

/** Are the files, in the order in which they were picked. */
export const attached = signal<readonly Attached[]>([]);

/** Says that there is something to send, and nothing on its way. */
export const ready = computed(
  () => text.value.trim() !== "" && attached.value.every((each) => each.uploaded),
);

let keys = 0;

/** Uploads files to go with the message. */
export function attach(files: Iterable<File>): void {
  for (const file of files) {
    if (attached.peek().length >= MOST_FILES) return;
    const leaving = new AbortController();
    const key = ++keys;
    const fresh = { key, name: file.name, uploaded: undefined, fault: "", leaving };
    attached.value = [...attached.peek(), fresh];
    upload(file, leaving.signal).then(
      (uploaded) => change(key, { uploaded }),
      (failed: Error) => change(key, { fault: failed.message }),
    );
  }
}

/** Takes a file away. What is uploaded already, the server removes in time. */
export function detach(key: number): void {
  attached
    .peek()
    .find((each) => each.key === key)
    ?.leaving.abort();
  attached.value = attached.peek().filter((each) => each.key !== key);
}

/** Begins a new message, unless the person has changed what was sent since. */
export function sent(draft: Draft): void {
  if (text.peek() !== draft.text || attached.peek() !== draft.attached) return;
  text.value = "";
  attached.value = [];
}

function change(key: number, to: Pick<Attached, "uploaded"> | Pick<Attached, "fault">): void {
  attached.value = attached.peek().map((each) => (each.key === key ? { ...each, ...to } : each));
}
