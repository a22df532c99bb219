/** Text of a model or a person that is shown as it is. */

import { piecesOf } from "./visible";

/** Shows text, its hidden characters as escapes. */
export function PlainText({ text }: { readonly text: string }) {
  return (
    <>
      {piecesOf(text).map((piece) =>
        piece.escape ? <span class="p-escape">{piece.text}</span> : piece.text,
      )}
    </>
  );
}
