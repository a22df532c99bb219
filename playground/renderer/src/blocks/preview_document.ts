/** The document inside the frame of a preview. */

const POLICY = [
  "default-src 'none'",
  "img-src data:",
  "style-src 'unsafe-inline'",
  "font-src data:",
  "form-action 'none'",
  "base-uri 'none'",
].join("; ");

/**
 * Returns what a frame shows of a block's HTML.
 *
 * The server has cleaned the HTML, and the frame's sandbox runs nothing; the policy comes first so that even what both let
 * through by mistake loads nothing.
 */
export function previewDocument(html: string): string {
  return `<meta http-equiv="Content-Security-Policy" content="${POLICY}">${html}`;
}
