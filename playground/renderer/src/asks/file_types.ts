/** The types of files that an ask takes, and what a picked file is declared as. */

import type { FilesInput } from "@parley/client/v1/asks";

interface Accepted {
  /** Names such files in a sentence. */
  readonly noun: string;
  readonly mimeTypes: readonly string[];
  /** Is what a file picker filters by besides the types: some systems know endings alone. */
  readonly endings: readonly string[];
}

const ACCEPTED: Readonly<Record<string, Accepted>> = {
  image: {
    noun: "images",
    mimeTypes: ["image/jpeg", "image/png", "image/gif", "image/webp"],
    endings: [".jpg", ".jpeg", ".png", ".gif", ".webp"],
  },
  pdf: { noun: "PDF", mimeTypes: ["application/pdf"], endings: [".pdf"] },
  text: { noun: "text", mimeTypes: ["text/plain"], endings: [".txt", ".md", ".log"] },
  csv: { noun: "CSV", mimeTypes: ["text/csv"], endings: [".csv"] },
  json: { noun: "JSON", mimeTypes: ["application/json"], endings: [".json"] },
};

const BY_ENDING: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  log: "text/plain",
  md: "text/plain",
  pdf: "application/pdf",
  png: "image/png",
  txt: "text/plain",
  webp: "image/webp",
};

const MIME_TYPES = new Set(Object.values(ACCEPTED).flatMap(({ mimeTypes }) => mimeTypes));

/** Returns those of an ask's types that this renderer knows, in the ask's order. */
export function knownTypes({ accept }: FilesInput): readonly Accepted[] {
  return accept
    .flatMap((name) => (Object.hasOwn(ACCEPTED, name) ? [ACCEPTED[name]] : []))
    .filter((accepted) => accepted !== undefined);
}

/** Returns the `accept` attribute of a file input. */
export function acceptAttribute(files: FilesInput): string {
  return knownTypes(files)
    .flatMap(({ mimeTypes, endings }) => [...mimeTypes, ...endings])
    .join(",");
}

/** Returns what an ask takes, as "images, PDF or CSV". */
export function nounsOf(files: FilesInput): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
    knownTypes(files).map(({ noun }) => noun),
  );
}

/** Tells whether an ask takes files that are declared as this type. */
export function takes(files: FilesInput, mimeType: string): boolean {
  return knownTypes(files).some(({ mimeTypes }) => mimeTypes.includes(mimeType));
}

/**
 * Returns the type that a picked file is declared as: its own where the contract has that one, else
 * what its name's ending says, else its own. Browsers call CSV a spreadsheet on some systems, and
 * say nothing of many text files.
 */
export function declaredType(file: { readonly name: string; readonly type: string }): string {
  const own = file.type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (MIME_TYPES.has(own)) return own;
  const ending = file.name.slice(file.name.lastIndexOf(".") + 1).toLowerCase();
  if (Object.hasOwn(BY_ENDING, ending)) return BY_ENDING[ending] ?? own;
  return own.startsWith("text/") ? "text/plain" : own;
}
