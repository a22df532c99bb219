import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  ChartBindingSchema,
  ChartPointsSchema,
  DatasetColumn_Type as ColumnType,
} from "@parley/client/v1/blocks";
import {
  alongTime,
  boundSeries,
  ownSeries,
  type Point,
  shares,
  summary,
  timeTicks,
} from "../src/blocks/points";
import { rowsOf } from "./documents";

const BINDING = create(ChartBindingSchema, { data: "loans", x: "day", y: "loans" });
const COLUMNS = { day: ColumnType.DATE, loans: ColumnType.NUMBER };
const at = (label: string, instant: number): Point => ({ label, value: 1, text: "1", at: instant });

test("a chart draws its own points, with the exact text of their numbers", () => {
  const source = create(ChartPointsSchema, {
    points: [
      { label: "Mon", value: 5, exact: "5.0" },
      { label: "Tue", value: 0 },
    ],
  });
  assert.deepEqual(ownSeries(source, "en").points, [
    { label: "Mon", value: 5, text: "5.0" },
    { label: "Tue", value: 0, text: "0" },
  ]);
});

test("a chart draws two columns of its dataset", () => {
  const rows = rowsOf(COLUMNS, ["2026-01-01", 318], ["2026-02-01", null], ["soon", 7]);
  const series = boundSeries(BINDING, rows, undefined, "en-GB");
  assert.equal(series.valueTitle, "Loans");
  assert.deepEqual(series.points, [
    { label: "1 Jan 2026", value: 318, text: "318", at: Date.UTC(2026, 0, 1) },
    { label: "1 Feb 2026", value: null, text: "", at: Date.UTC(2026, 1, 1) },
    { label: "soon", value: 7, text: "7" },
  ]);
});

test("a dataset without the columns of a chart leaves nothing to draw", () => {
  assert.deepEqual(boundSeries(BINDING, rowsOf({ day: ColumnType.DATE }, ["a"])).points, []);
  const texts = rowsOf({ day: ColumnType.DATE, loans: ColumnType.STRING }, ["a", "b"]);
  assert.deepEqual(boundSeries(BINDING, texts).points, []);
});

test("points stand along time only where each is later than the one before", () => {
  assert.equal(alongTime([at("a", 1), at("b", 2)]), true);
  assert.equal(alongTime([at("a", 2), at("b", 2)]), false);
  assert.equal(alongTime([at("a", 1), { label: "b", value: 1, text: "1" }]), false);
  assert.equal(alongTime([at("a", 1)]), false);
});

test("dates below a chart are about equally far apart, whatever was thinned out between them", () => {
  const points = [0, 1, 2, 3, 50, 98, 100].map((instant) => at(String(instant), instant));
  const labels = (most: number) => timeTicks(points, most).map(({ label }) => label);
  assert.deepEqual(labels(3), ["0", "50", "100"]);
  assert.deepEqual(labels(9), ["0", "1", "2", "3", "50", "98", "100"]);
  assert.deepEqual(timeTicks([], 3), []);
});

test("a sentence tells what a chart shows", () => {
  const points = [
    { label: "Mon", value: 3, text: "3" },
    { label: "Tue", value: null, text: "" },
    { label: "Wed", value: 9, text: "9" },
  ];
  const series = { labelTitle: "Day", valueTitle: "Loans", points };
  assert.equal(
    summary("Line chart", series),
    "Line chart of loans, 2 values: lowest 3 (Mon), highest 9 (Wed).",
  );
  assert.equal(summary("Line chart", { ...series, points: [] }), "Line chart without values.");
});

test("shares add up only where no value is below zero", () => {
  const of = (...values: (number | null)[]) =>
    shares(values.map((value) => ({ label: "", value, text: "" })));
  assert.deepEqual(of(3, 1, null), ["75 %", "25 %", "0 %"]);
  assert.equal(of(3, -1), undefined);
  assert.equal(of(0, 0), undefined);
});
