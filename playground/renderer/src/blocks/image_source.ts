/** Where the image of a document is. */

import { isDataImage } from "../text/links";
import { httpsUrl } from "./targets";

/** What an image can be shown from. */
export type ImageSource =
  | { readonly kind: "file"; readonly fileId: string }
  | { readonly kind: "data"; readonly url: string }
  | { readonly kind: "remote"; readonly url: string; readonly host: string }
  | { readonly kind: "unknown" };

/** Returns where an image is. What the server would not have let through is unknown. */
export function imageSource(src: string): ImageSource {
  if (src.startsWith("file:") && src.slice(5).trim() !== "") {
    return { kind: "file", fileId: src.slice(5) };
  }
  if (isDataImage(src)) {
    return { kind: "data", url: src };
  }
  const url = httpsUrl(src);
  return url ? { kind: "remote", url: url.href, host: url.host } : { kind: "unknown" };
}
