/** The page's few icons. Words beside or behind them say what they mean. */

const PATHS = {
  attach: "M8 12.5 14.5 6a3.5 3.5 0 0 1 5 5l-8.4 8.4a5.5 5.5 0 0 1-7.8-7.8L11 4",
  close: "M6 6l12 12M18 6 6 18",
  edit: "M4 20h4L19 9l-4-4L4 16v4zM13 7l4 4",
  list: "M4 6h16M4 12h16M4 18h10",
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M6 11l6-6 6 6",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5",
  watch:
    "M8 7V3h8v4M8 17v4h8v-4M7 7h10a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1z",
} as const;

/** Draws an icon, hidden from screen readers. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg class="p-icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
