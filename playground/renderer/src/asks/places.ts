/** Where on the form a fault belongs. */

import type { AskInput } from "@parley/client/v1/asks";
import type { Draft } from "./drafts";
import type { Fault } from "./faults";

/** Returns the paths of an ask's controls. */
export function placesOf({ kind }: AskInput, draft: Draft): readonly string[] {
  switch (draft.kind) {
    case "choice":
      // Without Other on the form, a fault of it is the whole question's.
      return draft.other === undefined
        ? ["content.selected"]
        : ["content.selected", "content.other"];
    case "markdown":
      return ["content.markdown"];
    case "form":
      return kind.case === "form" ? kind.value.fields.map(({ id }) => `content.values.${id}`) : [];
    case "files":
      return [...draft.files.map((_, index) => `content.files[${index}]`), "content.files"];
  }
}

/**
 * Sorts faults by the control they belong to: the one whose path is theirs, or begins theirs. Those
 * of no control are under the empty path.
 */
export function byPlace(
  faults: readonly Fault[],
  places: readonly string[],
): ReadonlyMap<string, readonly Fault[]> {
  const sorted = new Map<string, Fault[]>();
  const longestFirst = [...places].sort((one, other) => other.length - one.length);
  for (const fault of faults) {
    const place = longestFirst.find((path) => isWithin(fault.path, path)) ?? "";
    sorted.set(place, [...(sorted.get(place) ?? []), fault]);
  }
  return sorted;
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}
