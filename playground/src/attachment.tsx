/** A file of a message. */

import type { MediaPart } from "@parley/client/v1/conversations";
import { isImage } from "@parley/renderer";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { faultOf } from "./faults";
import { fileUrl, save } from "./files";
import { Icon } from "./icons";
import { complain } from "./notice";

type Shown = Pick<MediaPart, "fileId" | "filename" | "mimeType">;

/** Shows an image, and offers any other file for saving. */
export function Attachment({ file }: { readonly file: Shown }) {
  const name = file.filename || "A file";
  if (!file.fileId) return <span class="p-file">{name} (not kept)</span>;
  if (isImage(file.mimeType)) return <Picture fileId={file.fileId} name={name} />;
  const download = () => {
    save(file.fileId, file.filename).catch((failed) => complain(faultOf(failed), download));
  };
  return (
    <button type="button" class="p-file" title={`Save “${name}”`} onClick={download}>
      <Icon name="attach" />
      {name}
    </button>
  );
}

function Picture({ fileId, name }: { readonly fileId: string; readonly name: string }) {
  const url = useSignal("");
  const fault = useSignal("");
  useEffect(() => {
    const leaving = new AbortController();
    fileUrl(fileId, leaving.signal).then(
      (found) => {
        url.value = found;
      },
      (failed: unknown) => {
        if (!leaving.signal.aborted) fault.value = faultOf(failed).text;
      },
    );
    return () => leaving.abort();
  }, [fileId, url, fault]);
  if (fault.value) return <span class="p-file">{`${name}: ${fault.value}`}</span>;
  if (!url.value) return <span class="p-file">{name}</span>;
  return <img class="p-picture" src={url.value} alt={name} />;
}
