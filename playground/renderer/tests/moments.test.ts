import assert from "node:assert/strict";
import { test } from "node:test";
import { toLocal, toMoment } from "../src/asks/moments";

/** Moves this process, which runs no other tests, to a time zone. */
function moveTo(zone: string): void {
  Object.assign(process.env, { TZ: zone });
}

test("a local time gets the offset which holds there at that time", () => {
  moveTo("Europe/Lisbon");
  assert.equal(toMoment("2027-06-30T18:30"), "2027-06-30T18:30+01:00");
  assert.equal(toMoment("2027-12-30T18:30"), "2027-12-30T18:30+00:00");
  moveTo("America/St_Johns");
  assert.equal(toMoment("2027-12-30T18:30:05"), "2027-12-30T18:30:05-03:30");
});

test("a moment is shown as the local time", () => {
  moveTo("Asia/Kathmandu");
  assert.equal(toLocal("2027-06-30T18:30Z"), "2027-07-01T00:15");
  assert.equal(toLocal("2027-06-30T18:30:05.25Z"), "2027-07-01T00:15:05");
});

test("what is no time is shown as none, and left to the server", () => {
  assert.equal(toLocal(""), "");
  assert.equal(toLocal("tomorrow"), "");
  assert.equal(toMoment(""), "");
  assert.equal(toMoment("tomorrow"), "tomorrow");
});
