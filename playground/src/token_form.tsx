/** Asks for a token. */

import { useEffect, useRef } from "preact/hooks";
import { refused, take } from "./token";

/** Is all of the page while it has no token. */
export function TokenForm() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    const given = input.current?.value.trim();
    if (given) take(given);
  };
  return (
    <main class="p-entrance">
      <form class="p-panel p-entrance-form" onSubmit={submit}>
        <h1>Parley playground</h1>
        <p role={refused.value ? "alert" : undefined}>
          {refused.value
            ? "Your token has expired, or the server doesn't know it. Paste a new one to go on where you were."
            : "The server wants to know who you are. Paste the token that it printed when it started."}
        </p>
        <label for="token">Token</label>
        <input
          ref={input}
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="token-help"
        />
        <p id="token-help" class="p-help">
          <code>parleyd token</code> prints one for development. It stays in this tab, and is
          forgotten with it.
        </p>
        <button type="submit" class="p-button p-button-primary">
          Enter
        </button>
      </form>
    </main>
  );
}
