/** The page: conversations, the chat, and the watch. */

import { useEffect } from "preact/hooks";
import { announcement } from "./announcement";
import { Chat } from "./chat";
import { COMPOSER_ID } from "./composer";
import { ConversationList } from "./conversation_list";
import { Icon } from "./icons";
import { closePanel, type Panel, panel, panelId, togglePanel } from "./panel";
import { type Theme, theme } from "./theme";
import { token } from "./token";
import { TokenForm } from "./token_form";
import { WatchFrame } from "./watch_frame";

/** Is all there is, once there is a token. */
export function Page() {
  useEffect(() => {
    const close = ({ key }: KeyboardEvent) => {
      if (key === "Escape") closePanel();
    };
    addEventListener("keydown", close);
    return () => removeEventListener("keydown", close);
  }, []);
  if (token.value === undefined) return null;
  if (!token.value) return <TokenForm />;
  return (
    <div class="p-page" data-panel={panel.value}>
      <SkipLink />
      <header class="p-top">
        <PanelButton name="list" label="Conversations" />
        <h1>Parley</h1>
        <ThemeSwitch />
        <PanelButton name="watch" label="Watch" />
      </header>
      <div class="p-side p-side-list" id={panelId("list")} tabIndex={-1}>
        <ConversationList />
      </div>
      <Chat />
      <aside class="p-side p-side-watch" id={panelId("watch")} aria-label="Watch" tabIndex={-1}>
        <WatchFrame />
      </aside>
      {panel.value && (
        <button type="button" class="p-shade" aria-label="Close the panel" onClick={closePanel} />
      )}
      <p class="p-unseen" role="status">
        {announcement.value}
      </p>
    </div>
  );
}

/** Is a link to the box, though the address bar has another use for the fragment. */
function SkipLink() {
  return (
    <a
      class="p-skip"
      href={`#${COMPOSER_ID}`}
      onClick={(event) => {
        event.preventDefault();
        document.getElementById(COMPOSER_ID)?.focus();
      }}
    >
      Skip to the message box
    </a>
  );
}

interface PanelButtonProps {
  readonly name: Panel;
  readonly label: string;
}

function PanelButton({ name, label }: PanelButtonProps) {
  return (
    <button
      type="button"
      class={`p-icon-button p-panel-button p-panel-button-${name}`}
      aria-label={label}
      title={label}
      aria-expanded={panel.value === name}
      aria-controls={panelId(name)}
      onClick={() => togglePanel(name)}
    >
      <Icon name={name} />
    </button>
  );
}

function ThemeSwitch() {
  return (
    <label class="p-theme">
      <span class="p-unseen">Theme</span>
      <select
        value={theme.value}
        onChange={(event) => {
          theme.value = event.currentTarget.value as Theme;
        }}
      >
        <option value="system">As the system</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
