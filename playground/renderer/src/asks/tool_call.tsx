/** The call that an approval lets run. */

import { ScrollArea } from "../text/scroll_area";
import { PlainText } from "./plain_text";
import { laidOut } from "./visible";

/** What will run: the tool and its arguments as JSON text, exactly as stored. */
export interface ToolCallProps {
  readonly toolName: string;
  readonly toolArgsJson: string;
}

/** Shows a call whole, as plain text in which nothing hides. */
export function ToolCall({ toolName, toolArgsJson }: ToolCallProps) {
  return (
    <dl class="p-tool-call">
      <dt>Tool</dt>
      <dd>
        <code>
          <PlainText text={toolName} />
        </code>
      </dd>
      <dt>Arguments</dt>
      <dd>
        <ScrollArea label={`Arguments of ${toolName}`} class="p-tool-args">
          <pre>
            {/* Each string is isolated: one written from right to left moves nothing around it. */}
            {laidOut(toolArgsJson).map(({ text, string }) =>
              string ? (
                <bdi>
                  <PlainText text={text} />
                </bdi>
              ) : (
                <PlainText text={text} />
              ),
            )}
          </pre>
        </ScrollArea>
      </dd>
    </dl>
  );
}
