/** An image of a document. */

import type { ImageBlock } from "@parley/client/v1/blocks";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { imageSource } from "./image_source";
import { useStage } from "./stage";

/**
 * Shows an image.
 *
 * One on another host is named and can be opened, but not loaded by itself: what an address asks for can tell that host
 * what was talked about.
 */
export function BlockImage({ block: { src, alt } }: { block: ImageBlock }) {
  const { host } = useStage();
  const source = imageSource(src);
  switch (source.kind) {
    case "data":
      return <Shown url={source.url} alt={alt} />;
    case "file":
      return <FileImage key={source.fileId} fileId={source.fileId} alt={alt} />;
    case "remote":
      return (
        <Instead alt={alt}>
          An image at {source.host}.{" "}
          <button
            type="button"
            class="p-b-link"
            title={source.url}
            onClick={() => host.open({ url: source.url })}
          >
            Open it<span class="p-b-hidden">: {alt}</span>
          </button>
        </Instead>
      );
    default:
      return <Instead alt={alt}>This image can't be shown here.</Instead>;
  }
}

function FileImage({ fileId, alt }: { fileId: string; alt: string }) {
  const { host } = useStage();
  const [found, setFound] = useState<{ readonly url?: string }>();
  useEffect(() => {
    const abort = new AbortController();
    const settle = (found: { readonly url?: string }) => {
      if (!abort.signal.aborted) {
        setFound(found);
      }
    };
    host.imageUrl(fileId, abort.signal).then(
      (url) => settle({ url }),
      () => settle({}),
    );
    return () => abort.abort();
  }, [fileId]);
  if (found?.url !== undefined) {
    return <Shown url={found.url} alt={alt} />;
  }
  return found === undefined ? (
    <Instead alt={alt}>Loading the image…</Instead>
  ) : (
    <Instead alt={alt}>The image couldn't be loaded.</Instead>
  );
}

function Shown({ url, alt }: { url: string; alt: string }) {
  const [failed, setFailed] = useState<string>();
  return failed === url ? (
    <Instead alt={alt}>The image couldn't be shown.</Instead>
  ) : (
    <img class="p-b-image" src={url} alt={alt} onError={() => setFailed(url)} />
  );
}

function Instead({ alt, children }: { alt: string; children: ComponentChildren }) {
  return (
    <p class="p-b-image-text">
      {alt}
      <small>{children}</small>
    </p>
  );
}
