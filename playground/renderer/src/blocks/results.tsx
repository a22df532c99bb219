/** What pressed buttons had to say. */

import { Markdown } from "../text/markdown";

/** Shows the messages that actions of the host came back with, and reads each aloud as it comes. */
export function Results({ texts }: { texts: readonly string[] }) {
  return (
    <div class="p-b-results" role="status">
      {texts.map((text, at) => (
        <div class="p-b-result" key={at}>
          <Markdown text={text} level={6} />
        </div>
      ))}
    </div>
  );
}
