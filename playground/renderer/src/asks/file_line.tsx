/** A file of an answer in the making. */

import { useId } from "preact/hooks";
import type { FileDraft } from "./drafts";
import { Problem } from "./problem";
import { sizeOf } from "./sizes";

interface FileLineProps {
  readonly file: FileDraft;
  readonly problem: string;
  readonly onRemove: () => void;
  readonly onRetry: () => void;
}

/** Shows the file and how its upload stands. */
export function FileLine({ file, problem, onRemove, onRetry }: FileLineProps) {
  const id = useId();
  const { name, bytes, state } = file;
  return (
    <li class="p-upload" data-problem={problem ? "" : undefined}>
      <span class="p-upload-name" dir="auto">
        {name}
      </span>
      <span class="p-upload-state" role="status">
        {state.is === "uploading" ? "Uploading…" : state.is === "kept" ? sizeOf(bytes) : ""}
      </span>
      {state.is === "failed" && (
        <button
          type="button"
          class="p-button p-button-small"
          aria-label={`Try again: ${name}`}
          onClick={onRetry}
        >
          Try again
        </button>
      )}
      <button
        type="button"
        class="p-button p-button-small"
        aria-label={`Remove ${name}`}
        onClick={onRemove}
      >
        Remove
      </button>
      {state.is === "uploading" && (
        <progress class="p-upload-progress" aria-label={`Uploading ${name}`} />
      )}
      <Problem
        id={`${id}-problem`}
        text={state.is === "failed" ? `${name}: ${state.why}` : problem}
      />
    </li>
  );
}
