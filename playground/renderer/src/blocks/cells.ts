/** What a table shows of a dataset. */

import {
  DatasetColumn_Type as ColumnType,
  type DatasetCell,
  type DatasetColumn,
  type DatasetRow,
  RefDataset_Grain as Grain,
} from "@parley/client/v1/blocks";
import { dateText } from "./dates";
import { isGrouped, numberText } from "./numbers";

/** Rows with their columns, whether a document holds them itself or the server sent them. */
export interface Rows {
  readonly columns: readonly DatasetColumn[];
  readonly rows: readonly DatasetRow[];
}

/** A column to show, and where its cells are in a row. */
export interface ShownColumn {
  readonly title: string;
  readonly numeric: boolean;
  readonly type: ColumnType;
  readonly at: number;
  /** Says that thousands are parted from the rest. */
  readonly grouped: boolean;
}

/**
 * Returns the columns to show, in the order of `names`; all of them where there are no names.
 *
 * Names that the dataset has not are left out, since a table can be switched to a dataset of other columns. If it has
 * none of them, all columns are shown rather than nothing.
 */
export function shownColumns(rows: Rows, names: readonly string[]): readonly ShownColumn[] {
  const all = rows.columns.map((column, at) => shown(rows, column, at));
  const listed = names.flatMap((name) => {
    const at = rows.columns.findIndex((column) => column.name === name);
    return all.slice(at, at < 0 ? 0 : at + 1);
  });
  return listed.length > 0 ? listed : all;
}

function shown(rows: Rows, { name, type }: DatasetColumn, at: number): ShownColumn {
  const numeric = type === ColumnType.NUMBER;
  const grouped = numeric && isGrouped(numbersOf(rows, at));
  return { title: columnTitle(name), numeric, type, at, grouped };
}

function numbersOf({ rows }: Rows, at: number): readonly number[] {
  return rows.flatMap(({ cells }) => {
    const value = cells[at]?.value;
    return value?.case === "number" ? [value.value] : [];
  });
}

/** Returns the name of a column as a heading, `due_date` as "Due date". */
export function columnTitle(name: string): string {
  const words = name.replaceAll("_", " ").trim();
  return words === "" ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the text of a cell, empty for one without a value. */
export function cellText(
  cell: DatasetCell | undefined,
  { type, grouped }: Pick<ShownColumn, "type" | "grouped">,
  grain: Grain = Grain.UNSPECIFIED,
  locale?: string,
): string {
  switch (cell?.value.case) {
    case "number":
      return numberText(cell.value.value, cell.exact, grouped, locale);
    case "text":
      return type === ColumnType.DATE
        ? dateText(cell.value.value, grain, locale)
        : cell.value.value;
    default:
      return "";
  }
}
