/** The types of files that the contract has, and what a picked file is declared as. */

import type { FilesInput } from "@parley/client/v1/asks";

interface Accepted {
  /** Names such files in a sentence. */
  readonly noun: string;
  /** Are the types by the endings of names: some systems know endings alone. */
  readonly types: Readonly<Record<string, string>>;
}

const IMAGE: Accepted = {
  noun: "images",
  types: {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
  },
};

const ACCEPTED: Readonly<Record<string, Accepted>> = {
  image: IMAGE,
  pdf: { noun: "PDF", types: { ".pdf": "application/pdf" } },
  text: {
    noun: "text",
    types: { ".txt": "text/plain", ".md": "text/plain", ".log": "text/plain" },
  },
  csv: { noun: "CSV", types: { ".csv": "text/csv" } },
  json: { noun: "JSON", types: { ".json": "application/json" } },
};

const BY_ENDING = new Map(Object.values(ACCEPTED).flatMap(({ types }) => Object.entries(types)));
const MIME_TYPES = new Set(BY_ENDING.values());
const IMAGES = new Set(Object.values(IMAGE.types));

/** Is the `accept` attribute of a file input that takes all of them. */
export const EVERY_FILE = attributeOf(Object.values(ACCEPTED));

/** Returns those of an ask's types that this renderer knows, in the ask's order. */
export function knownTypes({ accept }: FilesInput): readonly Accepted[] {
  return accept
    .flatMap((name) => (Object.hasOwn(ACCEPTED, name) ? [ACCEPTED[name]] : []))
    .filter((accepted) => accepted !== undefined);
}

/** Returns the `accept` attribute of a file input. */
export function acceptAttribute(files: FilesInput): string {
  return attributeOf(knownTypes(files));
}

/** Returns what an ask takes, as "images, PDF or CSV". */
export function nounsOf(files: FilesInput): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
    knownTypes(files).map(({ noun }) => noun),
  );
}

/** Tells whether an ask takes files that are declared as this type. */
export function takes(files: FilesInput, mimeType: string): boolean {
  return knownTypes(files).some(({ types }) => Object.values(types).includes(mimeType));
}

/** Tells whether browsers show files of this type. An SVG is none of them: it can't be uploaded. */
export function isImage(mimeType: string): boolean {
  return IMAGES.has(mimeType);
}

/**
 * Returns the type that a picked file is declared as: its own where the contract has that one, else
 * what its name's ending says, else its own. Browsers call CSV a spreadsheet on some systems, and
 * say nothing of many text files.
 */
export function declaredType(file: { readonly name: string; readonly type: string }): string {
  const own = file.type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (MIME_TYPES.has(own)) return own;
  const ending = file.name.slice(file.name.lastIndexOf(".")).toLowerCase();
  const named = BY_ENDING.get(ending);
  return named ?? (own.startsWith("text/") ? "text/plain" : own);
}

function attributeOf(accepted: readonly Accepted[]): string {
  return accepted
    .flatMap(({ types }) => [...new Set(Object.values(types)), ...Object.keys(types)])
    .join(",");
}
