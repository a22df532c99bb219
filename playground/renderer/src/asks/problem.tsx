/** What is wrong, said where it is. */

/** What a control is told of the faults at its path. */
export interface Controls {
  /** Returns what to show at a path; empty for nothing, also while it would be too early to say. */
  readonly problemAt: (path: string) => string;
  /** Notes that the person was at a path, so its faults may show. */
  readonly touch: (path: string) => void;
}

/** Shows a problem and reads it out. Nothing for an empty text. */
export function Problem({ id, text }: { readonly id: string; readonly text: string }) {
  if (!text) return null;
  return (
    <p class="p-problem" id={id} role="alert">
      {text}
    </p>
  );
}

/** Returns an `aria-describedby` of those ids that are there; undefined for none. */
export function describedBy(...ids: readonly (string | false | undefined)[]): string | undefined {
  return ids.filter(Boolean).join(" ") || undefined;
}
