/** The data of a chart or table, wherever it is. */

import type { Block, RefDataset } from "@parley/client/v1/blocks";
import { RefDataset_Grain as Grain } from "@parley/client/v1/blocks";
import type { GetDatasetResponse } from "@parley/client/v1/datasets";
import { useEffect, useReducer } from "preact/hooks";
import type { Rows } from "./cells";
import { useStage } from "./stage";
import { rowsKey } from "./stored_rows";

/** Where the data of a chart or table stands. */
export type Data =
  | { readonly state: "none" }
  | { readonly state: "inline"; readonly rows: Rows }
  | { readonly state: "loading"; readonly dataset: RefDataset }
  | { readonly state: "stored"; readonly dataset: RefDataset; readonly answer: GetDatasetResponse }
  | {
      readonly state: "failed";
      readonly dataset: RefDataset;
      readonly message: string;
      readonly retry: () => void;
    };

/** Returns the data that a block shows, reading `page` of it if the server keeps it; 0 reads the whole, thinned out. */
export function useData(block: Block, page: number): Data {
  const stage = useStage();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const source = stage.dataset(stage.shown(block) ?? "")?.source;
  const dataset = source?.case === "ref" ? source.value : undefined;
  const key = dataset && rowsKey(dataset, page);
  const { rows } = stage;
  useEffect(
    () => (dataset === undefined ? undefined : rows.watch(dataset, page, () => redraw(undefined))),
    [rows, key],
  );
  if (source?.case === "inline") {
    return { state: "inline", rows: source.value };
  }
  if (dataset === undefined) {
    return { state: "none" };
  }
  const reading = rows.reading(dataset, page);
  switch (reading.state) {
    case "ready":
      return { state: "stored", dataset, answer: reading.answer };
    case "failed":
      return {
        state: "failed",
        dataset,
        message: reading.message,
        retry: () => rows.retry(dataset, page),
      };
    default:
      return { state: "loading", dataset };
  }
}

/** Returns the rows of the data, where they are there, and how they were put together. */
export function rowsOf(data: Data): { readonly rows?: Rows; readonly grain: Grain } {
  switch (data.state) {
    case "inline":
      return { rows: data.rows, grain: Grain.UNSPECIFIED };
    case "stored":
      return { rows: data.answer, grain: data.dataset.grain };
    default:
      return { grain: Grain.UNSPECIFIED };
  }
}
