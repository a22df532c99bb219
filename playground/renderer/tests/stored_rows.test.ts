import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { RefDataset_Grain as Grain, RefDatasetSchema } from "@parley/client/v1/blocks";
import { type GetDatasetResponse, GetDatasetResponseSchema } from "@parley/client/v1/datasets";
import { StoredRows } from "../src/blocks/stored_rows";

const DAILY = create(RefDatasetSchema, { id: "ds", grain: Grain.DAY, limit: 25 });
const WEEKLY = create(RefDatasetSchema, { id: "ds", grain: Grain.WEEK, limit: 25 });

/** Stands for the server: what it is asked is answered when the test says so. */
class Server {
  readonly asked: { page: number; signal: AbortSignal }[] = [];
  readonly #settle: ((outcome: GetDatasetResponse | Error) => void)[] = [];

  readonly read = (_: unknown, page: number, signal: AbortSignal) =>
    new Promise<GetDatasetResponse>((resolve, reject) => {
      this.asked.push({ page, signal });
      this.#settle.push((outcome) =>
        outcome instanceof Error ? reject(outcome) : resolve(outcome),
      );
    });

  async settle(outcome: GetDatasetResponse | Error): Promise<void> {
    this.#settle.shift()?.(outcome);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const ANSWER = create(GetDatasetResponseSchema, { page: 1 });

test("a page is read once for all that show it", async () => {
  const server = new Server();
  const rows = new StoredRows(server.read);
  let told = 0;
  rows.watch(DAILY, 1, () => told++);
  rows.watch(create(RefDatasetSchema, DAILY), 1, () => told++);
  assert.deepEqual(rows.reading(DAILY, 1), { state: "loading" });
  await server.settle(ANSWER);
  assert.equal(told, 2);
  assert.deepEqual(rows.reading(DAILY, 1), { state: "ready", answer: ANSWER });
  assert.equal(server.asked.length, 1);
});

test("another page, grain or limit is read by itself", () => {
  const server = new Server();
  const rows = new StoredRows(server.read);
  rows.watch(DAILY, 1, () => {});
  rows.watch(DAILY, 2, () => {});
  rows.watch(WEEKLY, 1, () => {});
  rows.watch(create(RefDatasetSchema, { id: "ds", grain: Grain.DAY }), 1, () => {});
  assert.equal(server.asked.length, 4);
});

test("what nobody watches any more is stopped", () => {
  const server = new Server();
  const rows = new StoredRows(server.read);
  const first = rows.watch(DAILY, 1, () => {});
  const second = rows.watch(DAILY, 1, () => {});
  first();
  assert.equal(server.asked[0]?.signal.aborted, false);
  second();
  assert.equal(server.asked[0]?.signal.aborted, true);
});

test("what was stopped tells nobody, and is read anew", async () => {
  const server = new Server();
  const rows = new StoredRows(server.read);
  let told = 0;
  rows.watch(DAILY, 1, () => told++)();
  rows.watch(DAILY, 1, () => told++);
  await server.settle(new Error("stopped"));
  assert.equal(told, 0);
  assert.deepEqual(rows.reading(DAILY, 1), { state: "loading" });
  await server.settle(ANSWER);
  assert.equal(told, 1);
});

test("a page that has arrived is kept when nobody watches it", async () => {
  const server = new Server();
  const rows = new StoredRows(server.read);
  const end = rows.watch(DAILY, 1, () => {});
  await server.settle(ANSWER);
  end();
  let told = 0;
  rows.watch(DAILY, 1, () => told++);
  assert.equal(told, 1);
  assert.equal(server.asked.length, 1);
});

test("a failed page says why, and is read again when asked to", async () => {
  const server = new Server();
  const rows = new StoredRows(server.read);
  let told = 0;
  rows.watch(DAILY, 1, () => told++);
  await server.settle(new Error("The dataset is gone."));
  assert.deepEqual(rows.reading(DAILY, 1), { state: "failed", message: "The dataset is gone." });
  rows.retry(DAILY, 1);
  assert.deepEqual(rows.reading(DAILY, 1), { state: "loading" });
  rows.retry(DAILY, 1);
  assert.equal(server.asked.length, 2);
  await server.settle(ANSWER);
  assert.equal(rows.reading(DAILY, 1).state, "ready");
  assert.equal(told, 3);
});
