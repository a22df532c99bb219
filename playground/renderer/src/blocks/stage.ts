/** What every block of a document can reach. */

import type { Block, Dataset } from "@parley/client/v1/blocks";
import type { RunBlockActionResponse } from "@parley/client/v1/turns";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { BlockHost } from "../host";
import type { Outcome } from "./outcomes";
import type { Level } from "./outline";
import type { StoredRows } from "./stored_rows";

/** The document around a block. */
export interface Stage {
  readonly host: BlockHost;
  /** Says that the document is still being written. */
  readonly pending: boolean;
  readonly rows: StoredRows;
  /** Returns the level of a block's heading. */
  level(block: Block): Level;
  /** Returns the dataset of that name, if there is one. */
  dataset(name: string): Dataset | undefined;
  /** Returns the name of the dataset that a chart or table shows. */
  shown(block: Block): string | undefined;
  /** Returns the chart or table of that id, if there is one. */
  target(id: string): Block | undefined;
  /** Tells whether a chart or table can be switched to a dataset. */
  canSwitch(target: string, data: string): boolean;
  /** Switches it, if it can be. */
  switchTo(target: string, data: string): void;
  /** Returns what the buttons of a block came to. */
  outcome(blockId: string): Outcome | undefined;
  /** Keeps what a button came to. */
  settle(blockId: string, answer: RunBlockActionResponse): void;
  /** Shows the document of an answer in place of the message. */
  replaceMessage(answer: RunBlockActionResponse): void;
}

/** Holds the document for the blocks inside of it. */
export const StageContext = createContext<Stage | undefined>(undefined);

/** Returns the document around a block. Throws where there is none, outside of `Blocks`. */
export function useStage(): Stage {
  const stage = useContext(StageContext);
  if (stage === undefined) {
    throw new Error("A block can only be drawn inside of Blocks.");
  }
  return stage;
}
