/** A reply that was to be a document and is none. */

import type { BlockIssue } from "@parley/client/v1/blocks";
import { Markdown } from "../text/markdown";
import { ScrollArea } from "../text/scroll_area";

/** How many of the errors are shown. */
const SHOWN = 3;

/**
 * Shows a reply that breaks the rules of documents: what is wrong with it, and the text itself, folded.
 *
 * A text that is no document at all, but prose, is shown as prose.
 */
export function InvalidDocument(props: { errors: readonly BlockIssue[]; text: string }) {
  const { errors, text } = props;
  if (errors.some(({ code }) => code === "NOT_A_DOCUMENT")) {
    return <Markdown text={text} />;
  }
  const more = errors.length - SHOWN;
  return (
    <div class="p-b-invalid">
      <p>
        <strong>This reply can't be shown as it was meant.</strong>
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.slice(0, SHOWN).map(({ path, code, message, fix }) => (
            <li key={`${path} ${code}`}>
              {path !== "" && <code>{path}</code>} {message} {fix}
            </li>
          ))}
          {more > 0 && <li>{more === 1 ? "One more error." : `${more} more errors.`}</li>}
        </ul>
      )}
      <details class="p-b-details">
        <summary>Show the text of the reply</summary>
        <ScrollArea label="The text of the reply">
          <pre class="p-b-code">{text}</pre>
        </ScrollArea>
      </details>
    </div>
  );
}
