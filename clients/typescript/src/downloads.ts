/** Getting files. */

import { create } from "@bufbuild/protobuf";
import type { Client } from "./client.js";
import { errorOf } from "./errors.js";
import { type File, FileSchema } from "./gen/parley/v1/files_pb.js";

/** A file that was downloaded: what is known of it, and its bytes. */
export interface Download {
  readonly file: File;
  readonly data: Blob;
}

/**
 * Downloads a file into memory.
 *
 * @throws ParleyError where the server refuses, or the connection breaks.
 */
export async function downloadFile(
  client: Client,
  fileId: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Download> {
  let file = create(FileSchema);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  try {
    for await (const { payload } of client.files.downloadFile({ fileId }, options)) {
      if (payload.case === "file") file = payload.value;
      if (payload.case === "chunk") chunks.push(new Uint8Array(payload.value));
    }
  } catch (failed) {
    options.signal?.throwIfAborted();
    throw errorOf(failed);
  }
  return { file, data: new Blob(chunks, { type: file.mimeType }) };
}
