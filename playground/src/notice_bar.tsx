/** Shows what the page has to say. */

import { Icon } from "./icons";
import { hush, notice } from "./notice";

/** Is there even when it says nothing, since screen readers speak of changes alone. */
export function NoticeBar() {
  const said = notice.value;
  return (
    <div role={said?.kind === "hint" ? "status" : "alert"}>
      {said && (
        <div class={`p-notice p-notice-${said.kind}`}>
          <p>{said.text}</p>
          {said.retry && (
            <button
              type="button"
              class="p-button"
              onClick={() => {
                hush();
                said.retry?.();
              }}
            >
              Try again
            </button>
          )}
          <button type="button" class="p-icon-button" aria-label="Close this note" onClick={hush}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}
