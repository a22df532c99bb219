/** Which page of a dataset a table shows. */

import type { RefDataset } from "@parley/client/v1/blocks";
import type { GetDatasetResponse } from "@parley/client/v1/datasets";

/** The server's own number of rows for a page, where a dataset leaves it to the server. */
const SERVER_PAGE = 500;
/** The last page that the server hands out. */
const LAST_PAGE = 10_000;

/** A page, counted from 1, and the dataset that it is of. */
export interface Page {
  readonly data: string;
  readonly number: number;
}

/** Returns the page to show of `data`: a table that was switched to another dataset begins at its first page. */
export function pageOf(page: Page | undefined, data: string): number {
  return page?.data === data ? page.number : 1;
}

/** Tells whether there are rows after a page. */
export function hasNext(answer: GetDatasetResponse | undefined, page: number): boolean {
  return answer?.more === true && page < LAST_PAGE;
}

/** Returns which rows a page holds, as in "Rows 51–100 of 1,234". */
export function rowsText(
  dataset: RefDataset,
  page: number,
  answer: GetDatasetResponse,
  locale?: string,
): string {
  const size = dataset.limit ?? SERVER_PAGE;
  const first = (page - 1) * size + 1;
  const numbers = new Intl.NumberFormat(locale);
  const total = numbers.format(answer.rowCount);
  return answer.rows.length === 0
    ? `No rows on page ${numbers.format(page)}, ${total} in all`
    : `Rows ${numbers.format(first)}–${numbers.format(first + answer.rows.length - 1)} of ${total}`;
}
