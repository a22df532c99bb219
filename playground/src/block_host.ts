/** What the document of a turn needs, done with this page's server. */

import type { BlockHost } from "@parley/renderer";
import { conversationId, read, type Stored, stored } from "./conversation";
import { faultOf } from "./faults";
import { fileUrl } from "./files";
import { busy, turn } from "./following";
import { hint } from "./notice";
import { send } from "./sending";
import { client } from "./server";

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
      // The document is there a moment before its turn is over.
      const done = turn.peek()?.turnId === turnId ? idle() : Promise.resolve();
      void done.then(() => send(text, []));
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

/** Reads it once the turn is over, as a document shows a moment before it is stored. */
async function storedDocument(id: string, turnId: string): Promise<string | undefined> {
  await idle();
  return documentOf(turnId, await read(id));
}

/** Waits until the agent has done. */
async function idle(): Promise<void> {
  let leave = () => {};
  await new Promise<void>((resolve) => {
    leave = busy.subscribe((working) => {
      if (!working) resolve();
    });
  });
  leave();
}
