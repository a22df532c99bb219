/** The rows of a dataset. */

import {
  type Block,
  DatasetColumn_Type as ColumnType,
  type DatasetRow,
  type RefDataset_Grain as Grain,
  type RefDataset,
  type TableBlock,
} from "@parley/client/v1/blocks";
import type { GetDatasetResponse } from "@parley/client/v1/datasets";
import { useId, useRef, useState } from "preact/hooks";
import { ScrollArea } from "../text/scroll_area";
import { cellText, type Rows, type ShownColumn, shownColumns } from "./cells";
import { Failure } from "./failure";
import { hasNext, type Page, pageOf, rowsText } from "./pages";
import { useStage } from "./stage";
import { rowsOf, useData } from "./use_data";

/** Shows the rows of a dataset, page by page where the server keeps them. */
export function DataTable({ block, table }: { block: Block; table: TableBlock }) {
  const titleId = useId();
  const name = useStage().shown(block) ?? "";
  const [turned, setTurned] = useState<Page>();
  const page = pageOf(turned, name);
  const data = useData(block, page);
  const found = rowsOf(data);
  // While a page is read the one before it stays, so that the table doesn't jump.
  const before = useRef<{ readonly name: string; readonly found: typeof found } | undefined>(
    undefined,
  );
  if (found.rows !== undefined) {
    before.current = { name, found };
  }
  const kept = before.current?.name === name ? before.current.found : undefined;
  const { rows, grain } = found.rows ? found : (kept ?? found);
  const loading = data.state === "loading";
  const title = table.title === "" ? undefined : table.title;
  return (
    <figure class="p-b-data" aria-labelledby={title && titleId} aria-busy={loading}>
      {title && (
        <figcaption id={titleId} class="p-b-data-title">
          {title}
        </figcaption>
      )}
      {data.state === "none" && <p class="p-b-empty">There is no data for this table.</p>}
      {data.state === "failed" && <Failure message={data.message} onRetry={data.retry} />}
      {loading && rows === undefined && <Waiting />}
      {rows !== undefined && (
        <RowsTable label={title ?? "Table"} rows={rows} names={table.columns} grain={grain} />
      )}
      {"dataset" in data && (
        <Pages
          dataset={data.dataset}
          page={page}
          answer={data.state === "stored" ? data.answer : undefined}
          loading={loading}
          onTurn={(number) => setTurned({ data: name, number })}
        />
      )}
    </figure>
  );
}

function Waiting() {
  return (
    <div class="p-b-skeleton p-b-skeleton-table">
      <span class="p-b-hidden">The data is being loaded.</span>
    </div>
  );
}

/** Shows rows as a table that scrolls by itself. */
export function RowsTable(props: {
  label: string;
  rows: Rows;
  names: readonly string[];
  grain: Grain;
}) {
  const columns = shownColumns(props.rows, props.names);
  return (
    <ScrollArea label={props.label} class="p-b-rows">
      <table class="p-b-table">
        <thead>
          <tr>
            {columns.map(({ title, numeric }, at) => (
              <th key={at} scope="col" class={numeric ? "p-b-right" : "p-b-left"}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.rows.map((row, at) => (
            <Row key={at} row={row} columns={columns} grain={props.grain} />
          ))}
        </tbody>
      </table>
      {props.rows.rows.length === 0 && <p class="p-b-empty">There are no rows.</p>}
    </ScrollArea>
  );
}

const LOOKS: Partial<Record<ColumnType, string>> = {
  [ColumnType.NUMBER]: "p-b-right",
  [ColumnType.DATE]: "p-b-date",
};

function Row(props: { row: DatasetRow; columns: readonly ShownColumn[]; grain: Grain }) {
  return (
    <tr>
      {props.columns.map((column, place) => (
        <td key={place} class={LOOKS[column.type]}>
          {cellText(props.row.cells[column.at], column, props.grain)}
        </td>
      ))}
    </tr>
  );
}

function Pages(props: {
  dataset: RefDataset;
  page: number;
  answer: GetDatasetResponse | undefined;
  loading: boolean;
  onTurn: (page: number) => void;
}) {
  const { dataset, page, answer, loading, onTurn } = props;
  const next = hasNext(answer, page);
  if (page === 1 && !loading && !next) {
    return null;
  }
  // Not `disabled` while a page is read: a button that loses the focus throws people back to the start of the page.
  return (
    <div class="p-b-pages">
      <TurnButton text="Previous" active={!loading && page > 1} onPress={() => onTurn(page - 1)} />
      <span role="status">
        {answer ? rowsText(dataset, page, answer) : loading ? `Loading page ${page}…` : ""}
      </span>
      <TurnButton text="Next" active={!loading && next} onPress={() => onTurn(page + 1)} />
    </div>
  );
}

function TurnButton(props: { text: string; active: boolean; onPress: () => void }) {
  return (
    <button
      type="button"
      class="p-b-button p-b-button-outline"
      aria-disabled={!props.active}
      onClick={() => props.active && props.onPress()}
    >
      {props.text}
      <span class="p-b-hidden"> rows</span>
    </button>
  );
}
