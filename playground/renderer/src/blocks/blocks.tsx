/** A document of blocks. */

import type { BlockDocument } from "@parley/client/v1/blocks";
import {
  RunBlockActionResponse_Replace as Replace,
  type RunBlockActionResponse,
} from "@parley/client/v1/turns";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { BlockHost } from "../host";
import { BlockList } from "./block";
import { NO_OUTCOMES, settle } from "./outcomes";
import { type Level, outline } from "./outline";
import { Results } from "./results";
import { Names, type Switched, shownDataset } from "./shown";
import { type Stage, StageContext } from "./stage";
import { StoredRows } from "./stored_rows";

/** What a document is drawn with. */
export interface BlocksProps {
  readonly document: BlockDocument;
  /** Says that the document is still being written: what is there of it is shown, and that more comes. */
  readonly pending?: boolean;
  readonly host: BlockHost;
  /** Is the level of the highest heading, 3 if not given. */
  readonly level?: Level;
  /** Shows an answer's document in place of the message. If not given, it is shown in place of this document. */
  readonly onReplaceMessage?: ((answer: RunBlockActionResponse) => void) | undefined;
}

/**
 * Shows a document.
 *
 * What a person switched and what pressed buttons came to is kept as long as it is on the page; a longer version of the
 * document goes on with the charts that are there.
 */
export function Blocks(props: BlocksProps) {
  const { document, pending = false, host, level = 3, onReplaceMessage } = props;
  const [switched, setSwitched] = useState<Switched>(new Map());
  const [outcomes, setOutcomes] = useState(NO_OUTCOMES);
  const drawn = outcomes.message ?? document;
  const names = useMemo(() => new Names(drawn), [drawn]);
  const levels = useMemo(() => outline(drawn.blocks, level), [drawn, level]);
  const rows = useStoredRows(host);
  const replaced = useFocusOn(outcomes.message);
  const replaceMessage =
    onReplaceMessage ??
    ((answer: RunBlockActionResponse) => {
      setOutcomes((before) => settle(before, "", answer));
      setSwitched(new Map());
    });
  const stage: Stage = {
    host,
    pending,
    rows,
    level: (block) => levels.get(block) ?? level,
    dataset: (name) => names.dataset(name),
    shown: (block) => shownDataset(block, switched),
    target: (id) => names.target(id),
    canSwitch: (target, data) => names.canSwitch(target, data),
    switchTo: (target, data) => setSwitched((before) => names.switchTo(before, target, data)),
    outcome: (blockId) => outcomes.blocks.get(blockId),
    settle: (blockId, answer) => {
      if (answer.replace === Replace.MESSAGE && answer.blocks !== undefined) {
        replaceMessage(answer);
      } else {
        setOutcomes((before) => settle(before, blockId, answer));
      }
    },
    replaceMessage,
  };
  return (
    <StageContext.Provider value={stage}>
      <div class="p-blocks" aria-busy={pending} ref={replaced} tabIndex={-1}>
        <BlockList blocks={drawn.blocks} />
        <Results texts={outcomes.texts} />
        {pending && (
          <div class="p-b-skeleton">
            <span class="p-b-hidden">More is on its way.</span>
          </div>
        )}
      </div>
    </StageContext.Provider>
  );
}

/** Returns what reads rows for as long as the document is on the page. */
function useStoredRows(host: BlockHost): StoredRows {
  // A page may make its host anew each time it draws; rows that are here need not be read again for that.
  const latest = useRef(host);
  latest.current = host;
  return useMemo(
    () => new StoredRows((dataset, page, signal) => latest.current.rows(dataset, page, signal)),
    [],
  );
}

/** Moves the focus to an element when `what` comes to be, since the button that had it is gone then. */
export function useFocusOn(what: unknown) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (what !== undefined) {
      element.current?.focus({ preventScroll: true });
    }
  }, [what]);
  return element;
}
