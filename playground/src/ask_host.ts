/** What the form of an ask needs, done with this page's server. */

import { create } from "@bufbuild/protobuf";
import { cardAnswer } from "@parley/client";
import { type AskFieldError, AskFieldErrorSchema, FileRefSchema } from "@parley/client/v1/asks";
import type { AskAsked } from "@parley/client/v1/turns";
import type { AskHost } from "@parley/renderer";
import { decidedElsewhere } from "./decided";
import { faultOf } from "./faults";
import { upload } from "./files";
import { type Input, start } from "./following";
import { hint, hush } from "./notice";
import { client } from "./server";
import { check } from "./sync";

/** Returns what the form of an ask needs. */
export function askHost(ask: AskAsked): AskHost {
  const { input, toolCallId } = ask;
  return {
    async check(answer, signal) {
      if (!input) return [];
      try {
        return (await client.contract.validateAnswer({ input, answer }, { signal })).errors;
      } catch (failed) {
        signal.throwIfAborted();
        throw new Error(faultOf(failed).text, { cause: failed });
      }
    },
    async upload(file, signal) {
      const { fileId, filename, mimeType, sizeBytes } = await upload(file, signal);
      const source = { case: "fileId", value: fileId } as const;
      return create(FileRefSchema, { filename, mimeType, size: BigInt(sizeBytes), source });
    },
    answer(answer) {
      return resolve({ case: "answer", value: { toolCallId, answer } });
    },
    async press({ id }) {
      const [fault] = await resolve(cardAnswer(ask, id));
      if (fault) throw new Error(`${fault.message} ${fault.fix}`);
    },
  };
}

/** Answers, and returns what is wrong with the answer. One that came too late is nobody's fault. */
async function resolve(input: Input): Promise<readonly AskFieldError[]> {
  hush();
  try {
    await start(input);
    return [];
  } catch (failed) {
    const { reason, text, error } = faultOf(failed);
    if (reason === "ASK_NOT_PENDING") {
      hint(decidedElsewhere(error));
      await check();
      return [];
    }
    if (reason === "INVALID_ANSWER" && error.fields.length) {
      return error.fields.map((fault) => create(AskFieldErrorSchema, fault));
    }
    throw new Error(text, { cause: failed });
  }
}
