/** Sending files over gRPC. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "./client.js";
import { errorOf } from "./errors.js";
import type { File, FileHeaderSchema, UploadFileRequestSchema } from "./gen/parley/v1/files_pb.js";

/** What is said of a file that is uploaded. */
export interface UploadOptions {
  /** Is needed where the file does not come from disk. */
  readonly filename?: string;
  /** Is what the ending of the name says when left out. */
  readonly mimeType?: string;
  /** Is a UUID. An upload that has one may be sent again: within 24 hours it gets the same file. */
  readonly requestId?: string;
  readonly signal?: AbortSignal;
}

const CHUNK_BYTES = 64 * 1024;
const TYPES: Readonly<Record<string, string>> = {
  ".csv": "text/csv",
  ".gif": "image/gif",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".txt": "text/plain",
  ".webp": "image/webp",
};

/**
 * Uploads a file, from disk or from memory, and returns what is known of it. The server checks that
 * all bytes came as they were read.
 *
 * @throws ParleyError where the server refuses. RangeError where there is no name for the bytes, or
 * no type known by the name. What `readFile` throws where the path can't be read.
 */
export async function uploadFile(
  client: Client,
  source: string | Uint8Array,
  { signal, ...said }: UploadOptions = {},
): Promise<File> {
  const filename = said.filename || (typeof source === "string" ? basename(source) : "");
  if (!filename) throw new RangeError("Bytes have no name of their own: say filename.");
  const mimeType = said.mimeType || TYPES[extname(filename).toLowerCase()];
  if (!mimeType) {
    throw new RangeError(`The name "${filename}" does not tell the file's type: say mimeType.`);
  }
  const data = typeof source === "string" ? await readFile(source) : source;
  const header = {
    filename,
    mimeType,
    sizeBytes: BigInt(data.length),
    sha256: createHash("sha256").update(data).digest(),
    requestId: said.requestId ?? "",
  };
  try {
    const options = signal ? { signal } : {};
    const { file } = await client.files.uploadFile(requests(header, data), options);
    if (file) return file;
  } catch (failed) {
    signal?.throwIfAborted();
    throw errorOf(failed);
  }
  throw errorOf("The server said nothing of the file.");
}

async function* requests(
  header: MessageInitShape<typeof FileHeaderSchema>,
  data: Uint8Array,
): AsyncGenerator<MessageInitShape<typeof UploadFileRequestSchema>, void, undefined> {
  yield { payload: { case: "header", value: header } };
  for (let start = 0; start < data.length; start += CHUNK_BYTES) {
    yield { payload: { case: "chunk", value: data.subarray(start, start + CHUNK_BYTES) } };
  }
}
