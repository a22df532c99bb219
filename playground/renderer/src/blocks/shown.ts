/** Which datasets the charts and tables of a document show. */

import type { Block, BlockDocument, Dataset } from "@parley/client/v1/blocks";

/** The dataset that a person switched a chart or table to, by the block's id. */
export type Switched = ReadonlyMap<string, string>;

/** What of a document the others in it name. */
export class Names {
  readonly #datasets: ReadonlyMap<string, Dataset>;
  readonly #targets: ReadonlyMap<string, Block>;

  constructor(document: BlockDocument) {
    this.#datasets = new Map(document.datasets.map((dataset) => [dataset.name, dataset]));
    this.#targets = new Map(
      everyBlock(document.blocks)
        .filter((block) => block.id !== "" && ownDataset(block) !== undefined)
        .map((block) => [block.id, block]),
    );
  }

  /** Returns the dataset of that name, if the document has it. */
  dataset(name: string): Dataset | undefined {
    return this.#datasets.get(name);
  }

  /** Returns the chart or table of that id, if the document has it and it shows a dataset. */
  target(id: string): Block | undefined {
    return this.#targets.get(id);
  }

  /** Tells whether `target` can be switched to `data`. */
  canSwitch(target: string, data: string): boolean {
    return this.#targets.has(target) && this.#datasets.has(data);
  }

  /** Returns the switches with `target` switched to `data`; the same where the document lacks one of them. */
  switchTo(switched: Switched, target: string, data: string): Switched {
    return this.canSwitch(target, data) ? new Map(switched).set(target, data) : switched;
  }
}

/** Returns the blocks and those inside of them, in the order of the document. */
export function everyBlock(blocks: readonly Block[]): readonly Block[] {
  return blocks.flatMap((block) => [block, ...everyBlock(childrenOf(block))]);
}

/** Returns the blocks inside of a block. */
export function childrenOf({ block }: Block): readonly Block[] {
  return block.case === "columns" || block.case === "card" ? block.value.children : [];
}

/** Returns the dataset that a chart or table shows now; nothing for other blocks. */
export function shownDataset(block: Block, switched: Switched): string | undefined {
  return (block.id === "" ? undefined : switched.get(block.id)) ?? ownDataset(block);
}

function ownDataset({ block }: Block): string | undefined {
  if (block.case === "table") {
    return block.value.data;
  }
  return block.case === "chart" && block.value.source.case === "binding"
    ? block.value.source.value.data
    : undefined;
}
