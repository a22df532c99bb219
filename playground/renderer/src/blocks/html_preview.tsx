/** A preview of a page that the agent wrote. */

import { BlockHeight, type HtmlBlock } from "@parley/client/v1/blocks";
import { useId } from "preact/hooks";
import { previewDocument } from "./preview_document";
import { useStage } from "./stage";

const HEIGHTS: Partial<Record<BlockHeight, string>> = {
  [BlockHeight.SM]: "p-b-height-sm",
  [BlockHeight.LG]: "p-b-height-lg",
};

/** Shows HTML in a frame that runs no script and loads nothing. */
export function HtmlPreview({ block }: { block: HtmlBlock }) {
  const captionId = useId();
  const { pending } = useStage();
  const height = HEIGHTS[block.height] ?? "p-b-height-md";
  return (
    <figure class="p-b-preview">
      {pending ? (
        // A document that is still being written has not been cleaned yet.
        <div class={`p-b-waiting ${height}`}>The preview comes once the reply is complete.</div>
      ) : (
        <iframe
          class={height}
          title={block.title || "Preview"}
          aria-describedby={captionId}
          sandbox=""
          referrerpolicy="no-referrer"
          srcdoc={previewDocument(block.html)}
        />
      )}
      <figcaption id={captionId}>
        {block.title !== "" && <strong>{block.title} </strong>}A preview that the agent made. It
        runs no scripts and loads nothing.
      </figcaption>
    </figure>
  );
}
