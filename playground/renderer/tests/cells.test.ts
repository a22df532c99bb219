import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DatasetColumn_Type as ColumnType,
  RefDataset_Grain as Grain,
} from "@parley/client/v1/blocks";
import { cellText, columnTitle, shownColumns } from "../src/blocks/cells";
import { dateText, instant } from "../src/blocks/dates";
import { isGrouped, numberText, shortNumber } from "../src/blocks/numbers";
import { cell, rowsOf } from "./documents";

const ROWS = rowsOf({
  day: ColumnType.DATE,
  loans_total: ColumnType.NUMBER,
  note: ColumnType.STRING,
});
const NUMBER = { type: ColumnType.NUMBER, grouped: true };
const titles = (names: readonly string[]) => shownColumns(ROWS, names).map(({ title }) => title);

test("a table shows all columns unless it names some, in the order of the names", () => {
  assert.deepEqual(titles([]), ["Day", "Loans total", "Note"]);
  assert.deepEqual(titles(["note", "day", "note"]), ["Note", "Day", "Note"]);
});

test("names that the dataset lacks are left out, and all columns are shown if it has none of them", () => {
  assert.deepEqual(titles(["gone", "day"]), ["Day"]);
  assert.deepEqual(titles(["gone"]), ["Day", "Loans total", "Note"]);
  assert.deepEqual(titles(["constructor", "day"]), ["Day"]);
});

test("only columns of numbers are numeric", () => {
  assert.deepEqual(
    shownColumns(ROWS, []).map(({ numeric }) => numeric),
    [false, true, false],
  );
});

test("a name of underscores alone stays what it is", () => {
  assert.equal(columnTitle("due_date"), "Due date");
  assert.equal(columnTitle("__"), "__");
});

test("a cell without a value is empty", () => {
  assert.equal(cellText(undefined, NUMBER), "");
  assert.equal(cellText(cell(null), NUMBER), "");
});

test("a text in a column of numbers is shown as it is", () => {
  assert.equal(cellText(cell("n/a"), NUMBER), "n/a");
});

test("a number is shown with every digit that it has", () => {
  assert.equal(numberText(12900, "", true, "en"), "12,900");
  assert.equal(numberText(0.1, "", true, "en"), "0.1");
  assert.equal(numberText(-402.125, "", true, "en"), "-402.125");
  assert.equal(
    numberText(9007199254740992, "9007199254740993", true, "en"),
    "9,007,199,254,740,993",
  );
  assert.equal(numberText(5, "5.0", true, "en"), "5.0");
  assert.equal(numberText(5, "5.0", true, "de"), "5,0");
  assert.equal(numberText(1e21, "1.0e21", true, "en"), "1.0e21");
});

test("numbers that are all of four digits may be years, and are not parted", () => {
  assert.equal(isGrouped([2024, 2025]), false);
  assert.equal(isGrouped([2024, 12900]), true);
  assert.equal(isGrouped([1024.5]), true);
  const rows = rowsOf({ year: ColumnType.NUMBER }, [2025], [2026]);
  const [column] = shownColumns(rows, []);
  assert.ok(column);
  assert.equal(cellText(rows.rows[0]?.cells[0], column, Grain.UNSPECIFIED, "en"), "2025");
});

test("the axis of a chart has short numbers", () => {
  assert.equal(shortNumber(15000, "en"), "15K");
  assert.equal(shortNumber(1500, "en"), "1.5K");
  assert.equal(shortNumber(0.25, "en"), "0.25");
});

test("a date is read as ISO 8601 alone", () => {
  assert.equal(instant("2026-03-04"), Date.UTC(2026, 2, 4));
  assert.equal(instant("2026-03-04T23:30:00-05:00"), Date.UTC(2026, 2, 5, 4, 30));
  assert.equal(instant("2026-03-04T10:00"), Date.UTC(2026, 2, 4, 10));
  assert.equal(instant("2026-13-04"), undefined);
  assert.equal(instant("March 4, 2026"), undefined);
  assert.equal(instant(""), undefined);
});

test("a day is the same day wherever it is read", () => {
  for (const zone of ["America/Los_Angeles", "Asia/Tokyo"]) {
    Object.assign(process.env, { TZ: zone });
    assert.equal(dateText("2026-03-04", Grain.UNSPECIFIED, "en-GB"), "4 Mar 2026");
    assert.equal(dateText("2026-03-01T00:00:00.000Z", Grain.DAY, "en-GB"), "1 Mar 2026");
    assert.equal(dateText("2026-03-01T00:00:00.000Z", Grain.MONTH, "en-GB"), "Mar 2026");
    assert.equal(dateText("2026-03-01T22:00", Grain.UNSPECIFIED, "en-GB"), "1 Mar 2026, 22:00");
  }
});

test("a time with a zone is the reader's own time", () => {
  Object.assign(process.env, { TZ: "Asia/Tokyo" });
  assert.equal(dateText("2026-03-01T22:00Z", Grain.UNSPECIFIED, "en-GB"), "2 Mar 2026, 07:00");
});

test("what is no date is shown as it is", () => {
  assert.equal(dateText("next week", Grain.DAY, "en"), "next week");
});
