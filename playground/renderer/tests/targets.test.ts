import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { OpenActionSchema } from "@parley/client/v1/blocks";
import { imageSource } from "../src/blocks/image_source";
import { previewDocument } from "../src/blocks/preview_document";
import { openTarget } from "../src/blocks/targets";

const url = (value: string) =>
  openTarget(create(OpenActionSchema, { target: { case: "url", value } }));

test("a button that opens an address says which host it leads to", () => {
  assert.deepEqual(url("https://library.example/a?b=1"), {
    open: { url: "https://library.example/a?b=1" },
    where: "library.example",
    whole: "https://library.example/a?b=1",
  });
});

test("a host in other letters is shown as what it is", () => {
  assert.equal(url("https://аррӏе.example/")?.where.startsWith("xn--"), true);
});

test("only whole addresses of https are opened", () => {
  const refused = [
    "http://library.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "//library.example/",
    "/settings",
    "https://bank.example@evil.example/",
    "https://:x@evil.example/",
    "",
  ];
  for (const each of refused) {
    assert.equal(url(each), undefined, each);
  }
});

test("a route is handed on as it is", () => {
  const action = create(OpenActionSchema, { target: { case: "route", value: "/loans/7" } });
  assert.deepEqual(openTarget(action)?.open, { route: "/loans/7" });
  assert.equal(openTarget(create(OpenActionSchema, {})), undefined);
});

test("an image is a file, in its address, or on another host", () => {
  assert.deepEqual(imageSource("file:f_1"), { kind: "file", fileId: "f_1" });
  assert.equal(imageSource("DATA:image/png;base64,xx").kind, "data");
  assert.deepEqual(imageSource("https://images.example/a.png"), {
    kind: "remote",
    url: "https://images.example/a.png",
    host: "images.example",
  });
  for (const each of [
    "file: ",
    "data:text/html,x",
    "http://images.example/a.png",
    "javascript:1",
  ]) {
    assert.deepEqual(imageSource(each), { kind: "unknown" }, each);
  }
});

test("the document of a preview begins with its policy", () => {
  const shown = previewDocument("<p>x</p>");
  assert.match(shown, /^<meta http-equiv="Content-Security-Policy" content="default-src 'none'; /);
  assert.match(shown, /">\s*<p>x<\/p>$/);
});
