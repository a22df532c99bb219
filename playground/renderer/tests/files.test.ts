import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { FilesInputSchema } from "@parley/client/v1/asks";
import {
  acceptAttribute,
  declaredType,
  EVERY_FILE,
  isImage,
  nounsOf,
  takes,
} from "../src/asks/file_types";
import { sizeOf } from "../src/asks/sizes";

test("a file picker offers the types and endings that an ask takes", () => {
  const files = create(FilesInputSchema, { accept: ["pdf", "csv", "constructor"] });
  assert.equal(acceptAttribute(files), "application/pdf,.pdf,text/csv,.csv");
  assert.equal(nounsOf(files), "PDF or CSV");
  assert.ok(takes(files, "text/csv"));
  assert.ok(!takes(files, "image/png"));
});

test("a file picker for every type names each type and ending once", () => {
  const parts = EVERY_FILE.split(",");
  assert.equal(new Set(parts).size, parts.length);
  for (const part of ["image/jpeg", ".jpg", ".jpeg", ".md", "text/plain", ".json"])
    assert.ok(parts.includes(part), part);
});

test("images are the types that browsers show", () => {
  assert.ok(isImage("image/webp"));
  assert.ok(!isImage("image/svg+xml"));
  assert.ok(!isImage("application/pdf"));
});

test("a file is declared as a type of the contract wherever its own or its ending has one", () => {
  const cases = [
    ["a.png", "image/png", "image/png"],
    ["a.bin", "text/plain; charset=utf-8", "text/plain"],
    ["people.CSV", "application/vnd.ms-excel", "text/csv"],
    ["notes.md", "", "text/plain"],
    ["page.html", "text/html", "text/plain"],
    ["a.mp4", "video/mp4", "video/mp4"],
    ["constructor", "", ""],
  ] as const;
  for (const [name, type, declared] of cases)
    assert.equal(declaredType({ name, type }), declared, name);
});

test("sizes are short", () => {
  const sizes = [0, 1, 999, 1400, 14_000, 10_485_760].map(sizeOf);
  assert.deepEqual(sizes, ["0 bytes", "1 byte", "999 bytes", "1.4 KB", "14 KB", "10 MB"]);
});
