import assert from "node:assert/strict";
import { test } from "node:test";
import { fragmentOf, placeOf } from "../address";

test("a fragment brings the token and the conversation", () => {
  assert.deepEqual(placeOf("#token=a.b-c_d&conversation=c1"), {
    token: "a.b-c_d",
    conversationId: "c1",
  });
});

test("a fragment of something else says nothing", () => {
  for (const fragment of ["", "#", "#composer"]) {
    assert.deepEqual(placeOf(fragment), { token: "", conversationId: "" });
  }
});

test("the fragment of a conversation leads back to it", () => {
  assert.equal(placeOf(fragmentOf("c 1&2")).conversationId, "c 1&2");
  assert.equal(fragmentOf(""), "");
});
