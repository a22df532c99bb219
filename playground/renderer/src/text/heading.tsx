/** A heading. */

import type { ComponentChildren } from "preact";

/** What a heading is drawn with. */
export interface HeadingProps {
  readonly level: number;
  readonly id?: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** Heads what follows, at a level that fits the page around it. */
export function Heading({ level, id, class: looks = "", children }: HeadingProps) {
  const Tag = `h${Math.min(6, Math.max(1, level))}` as "h1" | "h2" | "h3" | "h4" | "h5" | "h6";
  return (
    <Tag id={id} class={`p-b-heading ${looks}`}>
      {children}
    </Tag>
  );
}
