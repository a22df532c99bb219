/** Light or dark: what the system says, unless the person says otherwise. */

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "parley-theme";

/** Is what the person chose. Is kept for all tabs. */
export const theme = signal<Theme>(kept());

/** Shows the theme on the page from now on. */
export function showTheme(): void {
  effect(() => {
    if (theme.value === "system") {
      localStorage.removeItem(KEY);
      document.documentElement.removeAttribute("data-theme");
    } else {
      localStorage.setItem(KEY, theme.value);
      document.documentElement.setAttribute("data-theme", theme.value);
    }
  });
  addEventListener("storage", ({ key }) => {
    if (key === KEY) theme.value = kept();
  });
}

function kept(): Theme {
  const said = localStorage.getItem(KEY);
  return said === "light" || said === "dark" ? said : "system";
}
