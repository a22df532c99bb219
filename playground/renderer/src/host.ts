/** What the renderer needs from whoever uses it. It calls no server and knows no page by itself. */

import type { AskAnswer, AskFieldError, FileRef } from "@parley/client/v1/asks";
import type { CallbackAction, RefDataset } from "@parley/client/v1/blocks";
import type { SimpleCardButton } from "@parley/client/v1/cards";
import type { GetDatasetResponse } from "@parley/client/v1/datasets";
import type { RunBlockActionResponse } from "@parley/client/v1/turns";

/** Answers for an ask. */
export interface AskHost {
  /** Returns what the server finds wrong with an answer, none where it would take it. */
  check(answer: AskAnswer, signal: AbortSignal): Promise<readonly AskFieldError[]>;
  /** Keeps a file and returns how an answer names it. Rejects with a sentence. */
  upload(file: File, signal: AbortSignal): Promise<FileRef>;
  /** Answers. Returns what the server finds wrong; none once the answer is taken. */
  answer(answer: AskAnswer): Promise<readonly AskFieldError[]>;
  /** Presses a button of the ask's card, for a kind that is newer than this. Rejects with a sentence. */
  press(button: SimpleCardButton): Promise<void>;
}

/** Where a document's pressed buttons, data and images lead. */
export interface BlockHost {
  /** Reads rows of a stored dataset; `page` 0 is a thinned view of the whole. */
  rows(dataset: RefDataset, page: number, signal: AbortSignal): Promise<GetDatasetResponse>;
  /** Sends a text as the person's next message. */
  reply(text: string): void;
  /** Opens an https URL or a route of the app, on a press of the person's. */
  open(target: { readonly url: string } | { readonly route: string }): void;
  /** Runs an action of the host. Rejects with a sentence. */
  run(
    blockId: string,
    elementId: string,
    callback: CallbackAction,
  ): Promise<RunBlockActionResponse>;
  /** Returns a URL from which the page may show an uploaded image. */
  imageUrl(fileId: string, signal: AbortSignal): Promise<string>;
}
