/** The editor of a draft. */

import type { MarkdownInput } from "@parley/client/v1/asks";
import { useState } from "preact/hooks";
import { Markdown } from "../text/markdown";
import { Counter } from "./counter";
import type { MarkdownDraft } from "./drafts";
import { LIMITS } from "./faults";
import { type Controls, describedBy, Problem } from "./problem";

interface MarkdownFieldsProps extends Controls {
  readonly id: string;
  readonly markdown: MarkdownInput;
  readonly draft: MarkdownDraft;
  readonly onDraft: (draft: MarkdownDraft) => void;
}

const PLACE = "content.markdown";

/** Shows the draft as it is written or, on a press, as it will look. */
export function MarkdownFields({ id, markdown, draft, onDraft, ...controls }: MarkdownFieldsProps) {
  const [preview, setPreview] = useState(false);
  const problem = controls.problemAt(PLACE);
  return (
    <div class="p-field" data-problem={problem ? "" : undefined}>
      {preview ? (
        <section class="p-preview" aria-label="Preview">
          {draft.text.trim() ? <Markdown text={draft.text} level={4} /> : <p>Nothing to show.</p>}
        </section>
      ) : (
        <textarea
          class="p-input p-editor"
          aria-labelledby={`${id}-prompt`}
          placeholder={markdown.placeholder}
          // A control has line feeds alone. The draft keeps its own line ends until it is edited.
          value={draft.text.replace(/\r\n?/g, "\n")}
          aria-invalid={problem ? true : undefined}
          aria-describedby={describedBy(`${id}-count`, problem && `${id}-problem`)}
          onInput={(event) => onDraft({ kind: "markdown", text: event.currentTarget.value })}
          onBlur={() => controls.touch(PLACE)}
        />
      )}
      <div class="p-editor-foot">
        <Counter
          id={`${id}-count`}
          length={draft.text.length}
          max={markdown.maxLength ?? LIMITS.markdown}
        />
        <button
          type="button"
          class="p-button p-button-small"
          aria-pressed={preview}
          onClick={() => setPreview(!preview)}
        >
          Preview
        </button>
      </div>
      <Problem id={`${id}-problem`} text={problem} />
    </div>
  );
}
