/** Speaking to the agent. */

import { Attachment_Type } from "@parley/client/v1/turns";
import { faultOf } from "./faults";
import type { Uploaded } from "./files";
import { busy, type Input, start } from "./following";
import { complain, hint, hush } from "./notice";
import { check } from "./sync";
import type { Said } from "./turn";

/** Sends a message. Returns whether the server has taken it. */
export function send(text: string, files: readonly Uploaded[]): Promise<boolean> {
  const attachments = files.map(({ fileId, filename, mimeType }) => ({
    type: mimeType.startsWith("image/") ? Attachment_Type.IMAGE : Attachment_Type.FILE,
    source: { case: "fileId", value: fileId } as const,
    filename,
    mimeType,
  }));
  return begin({ case: "prompt", value: { text, attachments } }, { text, files });
}

/** Goes on where a turn failed. Returns whether the server does. */
export function retry(turnId: string): Promise<boolean> {
  return begin({ case: "retry", value: { turnId } });
}

async function begin(input: Input, said?: Said): Promise<boolean> {
  if (busy.peek()) {
    hint("The agent is still at work. Wait until it is done.");
    return false;
  }
  hush();
  try {
    await start(input, said);
    return true;
  } catch (failed) {
    complain(faultOf(failed), () => void begin(input, said));
    void check();
    return false;
  }
}
