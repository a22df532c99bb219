/** The way past a question. */

import type { Sending } from "./use_sending";

interface SkipButtonProps {
  readonly sending: Sending;
  readonly onSkip: () => void;
}

/** Skips a question that may be skipped. */
export function SkipButton({ sending, onSkip }: SkipButtonProps) {
  return (
    <button type="button" class="p-button p-button-quiet" disabled={!sending.open} onClick={onSkip}>
      Skip
    </button>
  );
}
