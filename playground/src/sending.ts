/** Speaking to the agent. */

import { Attachment_Type } from "@parley/client/v1/turns";
import { faultOf } from "./faults";
import type { Uploaded } from "./files";
import { busy, type Input, start } from "./following";
import { complain, hint, hush } from "./notice";
import { check } from "./sync";
import type { Said } from "./turn";

/**
 * Sends a message. Returns once the server has taken it, or the person was told that it has not.
 *
 * `taken` is called when it has, be it only after the person had it tried again.
 */
export function send(text: string, files: readonly Uploaded[], taken = () => {}): Promise<void> {
  const attachments = files.map(({ fileId, filename, mimeType }) => ({
    type: mimeType.startsWith("image/") ? Attachment_Type.IMAGE : Attachment_Type.FILE,
    source: { case: "fileId", value: fileId } as const,
    filename,
    mimeType,
  }));
  return begin({ case: "prompt", value: { text, attachments } }, taken, { text, files });
}

/** Goes on where a turn failed. */
export function retry(turnId: string): Promise<void> {
  return begin({ case: "retry", value: { turnId } }, () => {});
}

function begin(input: Input, taken: () => void, said?: Said): Promise<void> {
  // What seemed to fail may be stored nevertheless. Tried again it is the same request, not another.
  const requestId = crypto.randomUUID();
  const attempt = async (): Promise<void> => {
    if (busy.peek()) {
      hint("The agent is still at work. Wait until it is done.");
      return;
    }
    hush();
    try {
      await start(input, said, requestId);
      taken();
    } catch (failed) {
      complain(faultOf(failed), () => void attempt());
      void check();
    }
  };
  return attempt();
}
