/** Documents and rows for tests. */

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type Block,
  BlockDocumentSchema,
  BlockSchema,
  type DatasetColumn_Type as ColumnType,
  DatasetCellSchema,
  InlineDatasetSchema,
} from "@parley/client/v1/blocks";
import type { Rows } from "../src/blocks/cells";

/** Returns a document of blocks. */
export function documentOf(init: Omit<MessageInitShape<typeof BlockDocumentSchema>, "$typeName">) {
  return create(BlockDocumentSchema, { v: 1, ...init });
}

/** Returns a block. */
export function block(inside: MessageInitShape<typeof BlockSchema>["block"], id = ""): Block {
  return create(BlockSchema, inside === undefined ? { id } : { id, block: inside });
}

/** Returns rows of columns, each named with what it holds. */
export function rowsOf(
  columns: Readonly<Record<string, ColumnType>>,
  ...rows: readonly (readonly (string | number | null)[])[]
): Rows {
  return create(InlineDatasetSchema, {
    columns: Object.entries(columns).map(([name, type]) => ({ name, type })),
    rows: rows.map((cells) => ({ cells: cells.map((each) => cell(each)) })),
  });
}

/** Returns a cell, with the exact text of its number. */
export function cell(value: string | number | null, exact = "") {
  return create(DatasetCellSchema, {
    exact,
    value:
      typeof value === "string"
        ? { case: "text", value }
        : typeof value === "number"
          ? { case: "number", value }
          : { case: undefined },
  });
}
