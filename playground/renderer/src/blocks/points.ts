/** What a chart draws. */

import {
  type ChartBinding,
  type ChartPoints,
  DatasetColumn_Type as ColumnType,
  type DatasetCell,
  RefDataset_Grain as Grain,
} from "@parley/client/v1/blocks";
import { cellText, columnTitle, type Rows, type ShownColumn, shownColumns } from "./cells";
import { instant } from "./dates";
import { isGrouped, numberText } from "./numbers";

/** One value of a chart. */
export interface Point {
  readonly label: string;
  /** Is null where the dataset has no number: a gap in a line. */
  readonly value: number | null;
  /** Is the value as a person reads it. */
  readonly text: string;
  /** Is the instant of the label, where it is one. */
  readonly at?: number;
}

/** The points of a chart and what they are of. */
export interface Series {
  readonly labelTitle: string;
  readonly valueTitle: string;
  readonly points: readonly Point[];
}

/** Returns the points that a chart has of its own. */
export function ownSeries(source: ChartPoints, locale?: string): Series {
  const grouped = isGrouped(source.points.flatMap(({ value }) => value ?? []));
  const points = source.points.flatMap(({ label, value, exact }) =>
    value === undefined ? [] : [{ label, value, text: numberText(value, exact, grouped, locale) }],
  );
  return { labelTitle: "Label", valueTitle: "Value", points };
}

/**
 * Returns what a chart draws of a dataset's rows.
 *
 * A chart can be switched to a dataset that the server has not checked it against, so a column may be missing or hold
 * something else: then there are no points.
 */
export function boundSeries(
  binding: ChartBinding,
  rows: Rows,
  grain: Grain = Grain.UNSPECIFIED,
  locale?: string,
): Series {
  const columns = shownColumns(rows, []);
  const x = columns[rows.columns.findIndex(({ name }) => name === binding.x)];
  const y = columns[rows.columns.findIndex(({ name }) => name === binding.y)];
  const points =
    x === undefined || y?.numeric !== true
      ? []
      : rows.rows.map(({ cells }) => point(cells, x, y, grain, locale));
  const labelTitle = columnTitle(binding.x);
  return { labelTitle, valueTitle: columnTitle(binding.y), points };
}

function point(
  cells: readonly DatasetCell[],
  x: ShownColumn,
  y: ShownColumn,
  grain: Grain,
  locale?: string,
): Point {
  const [one, other] = [cells[x.at], cells[y.at]];
  const label = cellText(one, x, grain, locale);
  const value = other?.value.case === "number" ? other.value.value : null;
  const text = cellText(other, y, grain, locale);
  const at =
    x.type === ColumnType.DATE && one?.value.case === "text" ? instant(one.value.value) : undefined;
  return at === undefined ? { label, value, text } : { label, value, text, at };
}

/**
 * Tells whether the points can be placed by time: each has an instant, and each is later than the one before.
 *
 * The server thins out long datasets, and then rows that stand next to each other are not equally far apart.
 */
export function alongTime(points: readonly Point[]): boolean {
  let before = Number.NEGATIVE_INFINITY;
  return (
    points.length > 1 &&
    points.every(({ at }) => {
      const later = at !== undefined && at > before;
      before = at ?? before;
      return later;
    })
  );
}

/** Returns at most `most` points whose instants are about equally far apart, the first and the last among them. */
export function timeTicks(points: readonly Point[], most: number): readonly Point[] {
  const times = points.filter((one): one is Point & { at: number } => one.at !== undefined);
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined || times.length <= most) {
    return times;
  }
  const ticks = new Set<Point>();
  for (let step = 0; step < most; step++) {
    const wanted = first.at + ((last.at - first.at) * step) / Math.max(1, most - 1);
    ticks.add(
      times.reduce((best, one) =>
        Math.abs(one.at - wanted) < Math.abs(best.at - wanted) ? one : best,
      ),
    );
  }
  return [...ticks];
}

/** Returns a sentence on the points for those who don't see them. */
export function summary(kind: string, { valueTitle, points }: Series): string {
  const drawn = points.filter(({ value }) => value !== null);
  const [first] = drawn;
  if (first === undefined) {
    return `${kind} without values.`;
  }
  const by = (better: (a: number, b: number) => boolean) =>
    drawn.reduce((best, one) => (better(one.value ?? 0, best.value ?? 0) ? one : best), first);
  const lowest = by((a, b) => a < b);
  const highest = by((a, b) => a > b);
  const count = drawn.length === 1 ? "1 value" : `${drawn.length} values`;
  return `${kind} of ${valueTitle.toLowerCase()}, ${count}: lowest ${lowest.text} (${lowest.label}), highest ${highest.text} (${highest.label}).`;
}

/** Returns the share of each point in per cent, or nothing where shares make no sense. */
export function shares(points: readonly Point[]): readonly string[] | undefined {
  const total = points.reduce((sum, { value }) => sum + (value ?? 0), 0);
  if (!(total > 0) || points.some(({ value }) => (value ?? 0) < 0)) {
    return undefined;
  }
  return points.map(({ value }) => `${Math.round(((value ?? 0) / total) * 100)} %`);
}
