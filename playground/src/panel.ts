/** Which side panel lies over the chat where there is no room beside it. */

import { signal } from "@preact/signals";

export type Panel = "list" | "watch";

/** Is the panel that lies over the chat; undefined when none does. */
export const panel = signal<Panel | undefined>(undefined);

/** Opens a panel, or closes it. The keyboard goes along. */
export function togglePanel(name: Panel): void {
  if (panel.peek() === name) {
    closePanel();
    return;
  }
  panel.value = name;
  // It can't have the focus before it is drawn.
  requestAnimationFrame(() => document.getElementById(panelId(name))?.focus());
}

/** Closes the panel, and goes back to what opened it. */
export function closePanel(): void {
  const name = panel.peek();
  if (!name) return;
  panel.value = undefined;
  document.querySelector<HTMLElement>(`[aria-controls="${panelId(name)}"]`)?.focus();
}

/** Returns how the panel is named in the page. */
export function panelId(name: Panel): string {
  return `panel-${name}`;
}
