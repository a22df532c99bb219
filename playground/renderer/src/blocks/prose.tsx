/** The blocks that show a text or two. */

import {
  type BadgeBlock,
  BadgeBlock_Status as BadgeStatus,
  type CalloutBlock,
  CalloutBlock_Status as CalloutStatus,
  type ContextBlock,
  type DetailsBlock,
  type HeadingBlock,
  type MetricBlock,
  HeadingBlock_Size as Size,
  MetricBlock_Trend as Trend,
} from "@parley/client/v1/blocks";
import { Heading } from "../text/heading";

const SIZES: Partial<Record<Size, string>> = {
  [Size.SIZE_SM]: "p-b-heading-sm",
  [Size.SIZE_LG]: "p-b-heading-lg",
  [Size.SIZE_XL]: "p-b-heading-xl",
  [Size.SIZE_2XL]: "p-b-heading-2xl",
};

/** Heads what follows. */
export function Title({ block: { text, size }, level }: { block: HeadingBlock; level: number }) {
  return (
    <Heading level={level} class={SIZES[size] ?? "p-b-heading-md"}>
      {text}
    </Heading>
  );
}

// A figure that rises may be good or bad news, so the arrows have no colour of either.
const TRENDS: Partial<Record<Trend, { readonly arrow: string; readonly word: string }>> = {
  [Trend.UP]: { arrow: "▲", word: "up" },
  [Trend.DOWN]: { arrow: "▼", word: "down" },
  [Trend.FLAT]: { arrow: "→", word: "unchanged" },
};

/** Shows a figure with its label. */
export function Metric({ block }: { block: MetricBlock }) {
  const trend = TRENDS[block.trend];
  return (
    <dl class="p-b-metric">
      <dt>{block.label}</dt>
      <dd class="p-b-metric-value">{block.value}</dd>
      {(block.delta !== "" || trend !== undefined) && (
        <dd class="p-b-metric-delta">
          {trend !== undefined && (
            <>
              <span aria-hidden="true">{trend.arrow} </span>
              <span class={block.delta === "" ? "" : "p-b-hidden"}>{trend.word} </span>
            </>
          )}
          {block.delta}
        </dd>
      )}
      {block.helper !== "" && <dd class="p-b-metric-helper">{block.helper}</dd>}
    </dl>
  );
}

const BADGES: Partial<Record<BadgeStatus, { readonly looks: string; readonly word: string }>> = {
  [BadgeStatus.INFO]: { looks: "p-b-badge-info", word: "Information" },
  [BadgeStatus.ERROR]: { looks: "p-b-badge-error", word: "Error" },
  [BadgeStatus.WARNING]: { looks: "p-b-badge-warning", word: "Warning" },
  [BadgeStatus.SUCCESS]: { looks: "p-b-badge-success", word: "Success" },
  [BadgeStatus.ACTIVE]: { looks: "p-b-badge-active", word: "Active" },
};

/** Says in a word or two how things stand. */
export function Badge({ block: { text, status } }: { block: BadgeBlock }) {
  const badge = BADGES[status];
  return (
    <p class="p-b-badge-line">
      <span class={`p-b-badge ${badge?.looks ?? "p-b-badge-neutral"}`}>
        {badge !== undefined && <span class="p-b-hidden">{badge.word}: </span>}
        {text}
      </span>
    </p>
  );
}

/** Shows a remark in small print. */
export function Context({ block }: { block: ContextBlock }) {
  return <p class="p-b-context">{block.text}</p>;
}

const INFO = { looks: "p-b-callout-info", icon: "i", word: "Good to know" };
const CALLOUTS: Partial<Record<CalloutStatus, typeof INFO>> = {
  [CalloutStatus.WARNING]: { looks: "p-b-callout-warning", icon: "!", word: "Warning" },
  [CalloutStatus.ALERT]: { looks: "p-b-callout-alert", icon: "!", word: "Alert" },
};

/** Puts a text forward. */
export function Callout({ block: { text, status } }: { block: CalloutBlock }) {
  const { looks, icon, word } = CALLOUTS[status] ?? INFO;
  return (
    <div class={`p-b-callout ${looks}`} role="note">
      <span class="p-b-callout-icon" role="img" aria-label={`${word}:`}>
        {icon}
      </span>
      <p>{text}</p>
    </div>
  );
}

/** Shows a text that a person can unfold. */
export function Details({ block: { title, text } }: { block: DetailsBlock }) {
  return (
    <details class="p-b-details">
      <summary>{title}</summary>
      <p>{text}</p>
    </details>
  );
}
