/** What the renderer's questions and documents need, done with this page's server. */

import { create } from "@bufbuild/protobuf";
import { cardAnswer } from "@parley/client";
import { type AskFieldError, AskFieldErrorSchema, FileRefSchema } from "@parley/client/v1/asks";
import type { AskAsked } from "@parley/client/v1/turns";
import type { AskHost, BlockHost } from "@parley/renderer";
import { conversationId, read, type Stored, stored } from "./conversation";
import { decidedElsewhere } from "./decided";
import { faultOf } from "./faults";
import { fileUrl, upload } from "./files";
import { busy, type Input, start } from "./following";
import { hint, hush } from "./notice";
import { send } from "./sending";
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

/** Returns what the document of a turn needs. */
export function blockHost(turnId: string): BlockHost {
  return {
    async rows({ id: datasetId, grain, limit = 0 }, page, signal) {
      try {
        return await client.datasets.getDataset({ datasetId, grain, limit, page }, { signal });
      } catch (failed) {
        signal.throwIfAborted();
        throw new Error(faultOf(failed).text, { cause: failed });
      }
    },
    reply(text) {
      void send(text, []);
    },
    open(target) {
      if ("route" in target) hint(`An app of yours would open “${target.route}” here.`);
      else if (!target.url.startsWith("https://")) hint(`This page opens https addresses alone.`);
      else window.open(target.url, "_blank", "noopener,noreferrer");
    },
    async run(blockId, elementId, { name: action, payloadJson }) {
      const id = conversationId.peek();
      try {
        const messageId = documentOf(turnId, stored.peek()) ?? (await storedDocument(id, turnId));
        if (!messageId) throw new Error("The reply is not stored. Load the page again.");
        const request = { conversationId: id, messageId, blockId, elementId, action, payloadJson };
        return await client.turns.runBlockAction(request);
      } catch (failed) {
        throw new Error(faultOf(failed).text, { cause: failed });
      }
    },
    imageUrl: fileUrl,
  };
}

/** Names the message that holds the document of a turn; undefined where it is not known. */
function documentOf(turnId: string, known: Stored | undefined): string | undefined {
  const holds = known?.messages.findLast((each) => each.turnId === turnId && each.blocks);
  return holds?.messageId;
}

/** Waits for the end of the turn, as a document shows a moment before it is stored, and reads it. */
async function storedDocument(id: string, turnId: string): Promise<string | undefined> {
  let leave = () => {};
  await new Promise<void>((resolve) => {
    leave = busy.subscribe((working) => {
      if (!working) resolve();
    });
  });
  leave();
  return documentOf(turnId, await read(id));
}
