import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type AcceptAnswerSchema,
  AskAction,
  AskAnswerSchema,
  type AskInput,
} from "@parley/client/v1/asks";
import { answerLine, formLines, isGranted, markdownText } from "../src/asks/answered";
import { answerOf, CANCEL, confirmAnswer, DECLINE } from "../src/asks/answers";
import { asked, choice, filled, form, markdown } from "./asked";

const { UNSPECIFIED } = AskAction;
const accept = (content: NonNullable<MessageInitShape<typeof AcceptAnswerSchema>["content"]>) =>
  create(AskAnswerSchema, { action: { case: "accept", value: { content } } });
const cancel = (reason: string) =>
  create(AskAnswerSchema, { action: { case: "cancel", value: { reason } } });

test("what was picked is told by its labels", () => {
  const answer = accept({ case: "choice", value: { selected: ["bus", "train"], other: "Bike" } });
  assert.equal(answerLine(choice(), answer, UNSPECIFIED), "Coach bus, Night train and “Bike”");
  assert.equal(answerLine(undefined, answer, UNSPECIFIED), "bus, train and “Bike”");
});

test("a confirm is told by its button", () => {
  const input = asked({ case: "confirm", value: { confirmLabel: "Delete" } });
  assert.equal(answerLine(input, confirmAnswer(true), UNSPECIFIED), "Delete");
  assert.equal(answerLine(input, confirmAnswer(false), UNSPECIFIED), "Cancel");
});

test("a form is told by its fields", () => {
  const options = [
    { id: "red", label: "Red" },
    { id: "blue", label: "Blue" },
  ];
  const input = form(
    { id: "colours", label: "Colours", type: { case: "multiselect", value: { options } } },
    { id: "guests", label: "Guests", type: { case: "number", value: {} } },
    { id: "patio", label: "Patio", type: { case: "boolean", value: {} } },
  );
  const answer = answerOf(input, filled(input, { colours: ["blue", "red"], patio: false }));
  assert.equal(answerLine(input, answer, UNSPECIFIED), "Colours: Blue and Red · Patio: No");
  assert.deepEqual(formLines(input, answer), [
    { label: "Colours", text: "Blue and Red" },
    { label: "Guests", text: "Not answered" },
    { label: "Patio", text: "No" },
  ]);
});

test("a text tells whether it was changed, and opens to itself", () => {
  const kept = accept({ case: "markdown", value: { markdown: "# Hi", changed: false } });
  assert.equal(answerLine(markdown(), kept, UNSPECIFIED), "Sent without a change");
  assert.equal(markdownText(kept), "# Hi");
  assert.equal(markdownText(DECLINE), undefined);
});

test("files are told with their sizes", () => {
  const answer = accept({
    case: "files",
    value: {
      files: [
        { filename: "scan.png", size: 2048n },
        { filename: "a.txt", size: 1n },
      ],
    },
  });
  assert.equal(answerLine(undefined, answer, UNSPECIFIED), "scan.png (2.0 KB) and a.txt (1 byte)");
});

test("a question got what it asked for unless it was skipped, dropped or denied", () => {
  assert.ok(isGranted(confirmAnswer(true), UNSPECIFIED));
  assert.ok(isGranted(accept({ case: "choice", value: {} }), UNSPECIFIED));
  assert.ok(isGranted(undefined, AskAction.ACCEPT));
  assert.ok(!isGranted(confirmAnswer(false), UNSPECIFIED));
  assert.ok(!isGranted(DECLINE, AskAction.ACCEPT));
  assert.ok(!isGranted(CANCEL, UNSPECIFIED));
  assert.ok(!isGranted(undefined, UNSPECIFIED));
});

test("a question without an answer says what became of it", () => {
  const input: AskInput | undefined = undefined;
  assert.equal(answerLine(input, DECLINE, UNSPECIFIED), "Skipped");
  assert.equal(answerLine(input, CANCEL, UNSPECIFIED), "Dismissed");
  assert.equal(
    answerLine(input, cancel("user_sent_message"), UNSPECIFIED),
    "Dropped: a message was sent instead",
  );
  assert.equal(answerLine(input, cancel("toString"), UNSPECIFIED), "Dropped: toString");
  assert.equal(answerLine(input, undefined, AskAction.ACCEPT), "Answered");
  assert.equal(answerLine(input, undefined, UNSPECIFIED), "Not answered");
});
