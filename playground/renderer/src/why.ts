/** Why something failed, for a person. */

/** Returns why something failed, as a sentence. */
export function whyOf(failed: unknown, otherwise = "Something went wrong."): string {
  return failed instanceof Error && failed.message ? failed.message : otherwise;
}
