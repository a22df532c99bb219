/** The rows that a document reads from the server. */

import type { RefDataset } from "@parley/client/v1/blocks";
import type { GetDatasetResponse } from "@parley/client/v1/datasets";
import type { BlockHost } from "../host";
import { whyOf } from "../why";

/** Where reading a page of a dataset stands. */
export type Reading =
  | { readonly state: "loading" }
  | { readonly state: "ready"; readonly answer: GetDatasetResponse }
  | { readonly state: "failed"; readonly message: string };

interface Entry {
  reading: Reading;
  readonly abort: AbortController;
  readonly listeners: Set<() => void>;
}

const LOADING: Reading = { state: "loading" };

/**
 * Reads each page of a dataset once, however many charts and tables show it.
 *
 * What nobody watches any more is stopped; what has arrived is kept, so that going back to a page is at once.
 */
export class StoredRows {
  readonly #read: BlockHost["rows"];
  readonly #entries = new Map<string, Entry>();

  constructor(read: BlockHost["rows"]) {
    this.#read = read;
  }

  /** Returns where reading stands. Does not begin it. */
  reading(dataset: RefDataset, page: number): Reading {
    return this.#entries.get(rowsKey(dataset, page))?.reading ?? LOADING;
  }

  /** Reads a page unless that has begun, and calls `listener` on every change. Returns what ends that. */
  watch(dataset: RefDataset, page: number, listener: () => void): () => void {
    const key = rowsKey(dataset, page);
    const entry = this.#entries.get(key) ?? this.#begin(key, dataset, page, new Set());
    entry.listeners.add(listener);
    if (entry.reading.state !== "loading") {
      listener();
    }
    return () => {
      entry.listeners.delete(listener);
      const current = this.#entries.get(key);
      if (current?.listeners.size === 0 && current.reading.state !== "ready") {
        this.#entries.delete(key);
        current.abort.abort();
      }
    };
  }

  /** Reads a page again that could not be read. Does nothing otherwise. */
  retry(dataset: RefDataset, page: number): void {
    const key = rowsKey(dataset, page);
    const failed = this.#entries.get(key);
    if (failed?.reading.state === "failed") {
      // The listeners go along, for those who watch have no reason to watch anew.
      tell(this.#begin(key, dataset, page, failed.listeners));
    }
  }

  #begin(key: string, dataset: RefDataset, page: number, listeners: Set<() => void>): Entry {
    const entry: Entry = { reading: LOADING, abort: new AbortController(), listeners };
    this.#entries.set(key, entry);
    void this.#fill(entry, dataset, page);
    return entry;
  }

  async #fill(entry: Entry, dataset: RefDataset, page: number): Promise<void> {
    // One that was stopped has left the entries, and nobody listens to it any more.
    try {
      const answer = await this.#read(dataset, page, entry.abort.signal);
      entry.reading = { state: "ready", answer };
    } catch (error) {
      entry.reading = { state: "failed", message: whyOf(error, "") };
    }
    tell(entry);
  }
}

/** Returns what tells one page of one dataset from all others. */
export function rowsKey({ id, grain, limit }: RefDataset, page: number): string {
  return [id, grain, limit ?? "", page].join("/");
}

function tell(entry: Entry): void {
  for (const listener of [...entry.listeners]) {
    listener();
  }
}
