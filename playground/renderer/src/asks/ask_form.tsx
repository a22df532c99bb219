/** A question with what it takes to answer it. */

import { create } from "@bufbuild/protobuf";
import { AskInputSchema } from "@parley/client/v1/asks";
import { useMemo } from "preact/hooks";
import type { AskHost } from "../host";
import type { Asked } from "./asked";
import { ConfirmAsk } from "./confirm_ask";
import { firstDraft } from "./drafts";
import { FillIn } from "./fill_in";
import { NewerAsk } from "./newer_ask";

/** What a question is drawn with. */
export interface AskFormProps {
  readonly ask: Asked;
  readonly host: AskHost;
}

/**
 * Shows a question until it is answered. What was filled in is kept as long as the question is the
 * same one; once it is answered, the page shows an `AnsweredAsk` in its place.
 */
export function AskForm({ ask, host }: AskFormProps) {
  return <OpenAsk key={ask.toolCallId} ask={ask} host={host} />;
}

function OpenAsk({ ask, host }: AskFormProps) {
  // A stored question never changes: one that is read again, after a reload of the conversation, is
  // the same, and must not begin the draft anew.
  const input = useMemo(() => ask.input ?? create(AskInputSchema), []);
  const first = useMemo(() => firstDraft(input), [input]);
  if (input.kind.case === "confirm") {
    return <ConfirmAsk ask={ask} input={input} confirm={input.kind.value} host={host} />;
  }
  if (!first) return <NewerAsk ask={ask} host={host} />;
  return <FillIn ask={ask} input={input} first={first} host={host} />;
}
