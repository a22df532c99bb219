import assert from "node:assert/strict";
import { test } from "node:test";
import { pause } from "../src/pauses.js";

test("a pause grows with the tries, to five seconds, and is never as long as others", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const [tries, longest] of [
    [0, 100],
    [3, 800],
    [50, 5_000],
  ] as const) {
    let over = false;
    const pausing = pause(tries).then(() => {
      over = true;
    });
    t.mock.timers.tick(longest / 2 - 1);
    await new Promise(setImmediate);
    assert(!over);
    t.mock.timers.tick(longest / 2 + 1);
    await pausing;
  }
});

test("a pause ends at once where nobody waits any more", { timeout: 1_000 }, async () => {
  const leaving = new AbortController();
  const pausing = pause(50, leaving.signal);
  leaving.abort(new Error("enough"));
  await assert.rejects(pausing, { message: "enough" });
  await assert.rejects(pause(50, leaving.signal), { message: "enough" });
});
