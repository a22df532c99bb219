/** Files on their way to the server and back. */

import { downloadFile } from "@parley/client";
import { declaredType } from "@parley/renderer";
import { client } from "./server";
import { refuse, token } from "./token";

/** What the server knows of an upload. */
export interface Uploaded {
  readonly fileId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
}

/**
 * Uploads a file as a form, since browsers can't stream what they send.
 *
 * @throws Error with the server's sentence.
 */
export async function upload(file: File, signal?: AbortSignal): Promise<Uploaded> {
  const body = new FormData();
  body.set("file", new File([file], file.name, { type: declaredType(file) }));
  const { status, told } = await posted(body, signal);
  const kept = told.file;
  if (kept) return { ...kept, sizeBytes: Number(kept.sizeBytes) };
  if (status === 401) refuse();
  throw new Error(told.message ?? `“${file.name}” could not be uploaded.`);
}

interface Told {
  readonly message?: string;
  readonly file?: { fileId: string; filename: string; mimeType: string; sizeBytes: string };
}

async function posted(body: FormData, signal?: AbortSignal) {
  const headers = { authorization: `Bearer ${token.peek() ?? ""}` };
  let response: Response;
  try {
    const given = signal ? { signal } : {};
    response = await fetch("/v1/files:upload", { method: "POST", body, headers, ...given });
  } catch (failed) {
    signal?.throwIfAborted();
    throw new Error("The server can't be reached. Is it running?", { cause: failed });
  }
  // What stands between the page and the server may answer with something else than JSON.
  const told: Told = await response.json().catch(() => ({}));
  return { status: response.status, told };
}

/**
 * Returns a URL of this page for a file, good until the signal is aborted.
 *
 * @throws ParleyError where the server refuses.
 */
export async function fileUrl(fileId: string, signal: AbortSignal): Promise<string> {
  const { data } = await downloadFile(client, fileId, { signal });
  signal.throwIfAborted();
  const url = URL.createObjectURL(data);
  signal.addEventListener("abort", () => URL.revokeObjectURL(url), { once: true });
  return url;
}

/**
 * Saves a file where the browser keeps downloads.
 *
 * @throws ParleyError where the server refuses.
 */
export async function save(fileId: string, filename: string): Promise<void> {
  const { data, file } = await downloadFile(client, fileId);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data);
  link.download = filename || file.filename || "file";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
