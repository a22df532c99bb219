/** Text in which nothing hides, and JSON laid out without changing a value. */

/** A piece of text. */
export interface Piece {
  readonly text: string;
  /** Says that the text stands for a character which nobody would see. */
  readonly escape: boolean;
}

// Control characters, what turns the direction of text, what has no width or no assigned look. The
// line break shows by itself; U+FE0F after an emoji only chooses its colourful look.
const HIDDEN =
  /(?!\n)(?!(?<=\p{Emoji})\u{FE0F})[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Splits a text, each hidden character written as an escape such as `\u{202E}`. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: hidden, index } of text.matchAll(HIDDEN)) {
    if (index > end) pieces.push({ text: text.slice(end, index), escape: false });
    const code = hidden.codePointAt(0) ?? 0;
    const written = `\\u{${code.toString(16).toUpperCase().padStart(4, "0")}}`;
    pieces.push({ text: written, escape: true });
    end = index + hidden.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), escape: false });
  return pieces;
}

/** A token of laid out JSON: a string with its quotes, or all else. */
export interface Token {
  readonly text: string;
  readonly string: boolean;
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\],:]|[^ \t\r\n"{}[\],:]+/gs;

/**
 * Lays JSON text out over lines. Only white space between tokens changes: numbers of any size, keys
 * that repeat and escapes stay as they were written, since they are what will run.
 */
export function laidOut(json: string): readonly Token[] {
  const tokens = json.match(TOKENS) ?? [];
  const shown: Token[] = [];
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    let space = "";
    if (token === "}" || token === "]") {
      depth = Math.max(0, depth - 1);
      if (before !== "{" && before !== "[") space = newLine(depth);
    } else if (before === "{" || before === "[" || before === ",") {
      space = newLine(depth);
    } else if (before === ":") {
      space = " ";
    }
    if (token === "{" || token === "[") depth += 1;
    if (space) shown.push({ text: space, string: false });
    shown.push({ text: token, string: token.startsWith('"') });
  }
  return shown;
}

function newLine(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}
