/** Asks before a conversation is deleted. */

import { useEffect, useRef } from "preact/hooks";

interface DeleteDialogProps {
  readonly title: string;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

/** Is open as long as it is there. */
export function DeleteDialog({ title, onConfirm, onCancel }: DeleteDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="p-dialog" aria-labelledby="delete-title" onClose={onCancel}>
      <h2 id="delete-title">Delete this conversation?</h2>
      <p>“{title}” goes for good, and a question that waits in it is dropped.</p>
      <div class="p-dialog-buttons">
        <button type="button" class="p-button" onClick={() => dialog.current?.close()}>
          Keep it
        </button>
        <button type="button" class="p-button p-button-danger" onClick={onConfirm}>
          Delete
        </button>
      </div>
    </dialog>
  );
}
