/** Which links and images of a text that a model wrote are shown as such. */

const SCHEMES = new Set(["https:", "http:", "mailto:"]);

/** Returns the address of a link, or nothing for one that leads to the page itself or runs something. */
export function safeLink(url: string): string | undefined {
  // Only whole addresses: a relative one would lead into the page.
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed && SCHEMES.has(parsed.protocol) ? parsed.href : undefined;
}

/** Tells whether an image is in its address, so that showing it asks nobody. */
export function isDataImage(url: string): boolean {
  return /^data:image\//i.test(url);
}

/** Returns the host of an address, or nothing where it has none. */
export function hostOf(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed?.host || undefined;
}
