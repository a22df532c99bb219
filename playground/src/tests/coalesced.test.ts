import assert from "node:assert/strict";
import { test } from "node:test";
import { coalesced } from "../coalesced";

test("whoever asks while a reading runs gets the next one, and shares it", async () => {
  const ends: (() => void)[] = [];
  const read = coalesced(() => new Promise<void>((end) => ends.push(end)));
  const first = read();
  const second = read();
  assert.equal(read(), second);
  assert.equal(ends.length, 1);
  ends[0]?.();
  await first;
  await new Promise(setImmediate);
  assert.equal(ends.length, 2);
  ends[1]?.();
  await second;
  void read();
  assert.equal(ends.length, 3);
});

test("a reading that failed is read again", async () => {
  let times = 0;
  const read = coalesced(async () => {
    if (++times === 1) throw new Error("no");
  });
  const first = read();
  const second = read();
  await assert.rejects(first);
  await second;
  assert.equal(times, 2);
});
