/** How a date or an instant of a dataset is written for a person. */

import { RefDataset_Grain as Grain } from "@parley/client/v1/blocks";

const ISO =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Returns the milliseconds of an ISO 8601 date or time, without a zone that of UTC; nothing for any other text. */
export function instant(text: string): number | undefined {
  const parts = ISO.exec(text);
  if (parts === null) {
    return undefined;
  }
  const [, day, time = "00:00", zone = "Z"] = parts;
  const at = Date.parse(`${day}T${time.replace(",", ".")}${zone}`);
  return Number.isNaN(at) ? undefined : at;
}

/**
 * Returns a date as a person reads it, and what can't be read as one as it is.
 *
 * Only a time that names its zone is moved to the reader's own: a day without a time is the same day everywhere, and so
 * is the start of a bucket, which the server counts in UTC.
 */
export function dateText(text: string, grain: Grain, locale?: string): string {
  const at = instant(text);
  return at === undefined ? text : new Intl.DateTimeFormat(locale, shape(text, grain)).format(at);
}

function shape(text: string, grain: Grain): Intl.DateTimeFormatOptions {
  switch (grain) {
    case Grain.MONTH:
      return { month: "short", year: "numeric", timeZone: "UTC" };
    case Grain.WEEK:
    case Grain.DAY:
      return { dateStyle: "medium", timeZone: "UTC" };
    case Grain.HOUR:
      return { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" };
    default:
      if (text.length === "2026-01-31".length) {
        return { dateStyle: "medium", timeZone: "UTC" };
      }
      return /(?:Z|[+-]\d{2}:?\d{2})$/.test(text)
        ? { dateStyle: "medium", timeStyle: "short" }
        : { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" };
  }
}
