/** A block of a document. */

import type { Block, CardBlock, ColumnsBlock } from "@parley/client/v1/blocks";
import { useId } from "preact/hooks";
import { Heading } from "../text/heading";
import { Markdown } from "../text/markdown";
import { Actions } from "./actions";
import { Boundary, Fallback } from "./boundary";
import { Chart } from "./chart";
import { HtmlPreview } from "./html_preview";
import { BlockImage } from "./image";
import { Badge, Callout, Context, Details, Metric, Title } from "./prose";
import { useStage } from "./stage";
import { DataTable } from "./table";

/** Shows blocks one below the other. */
export function BlockList({ blocks }: { blocks: readonly Block[] }) {
  // A block that is written on keeps its place, and with its place its chart and what was pressed in it.
  return blocks.map((block, at) => (
    <Boundary key={block.id === "" ? `at ${at}` : block.id} of={block}>
      <OneBlock of={block} />
    </Boundary>
  ));
}

function OneBlock({ of: block }: { of: Block }) {
  const level = useStage().level(block);
  const { block: inside } = block;
  switch (inside.case) {
    case "heading":
      return <Title block={inside.value} level={level} />;
    case "text":
      return <Markdown text={inside.value.markdown} level={level} />;
    case "metric":
      return <Metric block={inside.value} />;
    case "badge":
      return <Badge block={inside.value} />;
    case "divider":
      return <hr class="p-b-divider" />;
    case "context":
      return <Context block={inside.value} />;
    case "chart":
      return <Chart block={block} chart={inside.value} />;
    case "table":
      return <DataTable block={block} table={inside.value} />;
    case "actions":
      return <Actions block={block} actions={inside.value} />;
    case "columns":
      return <Columns block={inside.value} />;
    case "card":
      return <Card block={inside.value} level={level} />;
    case "html":
      return <HtmlPreview block={inside.value} />;
    case "callout":
      return <Callout block={inside.value} />;
    case "image":
      return <BlockImage block={inside.value} />;
    case "details":
      return <Details block={inside.value} />;
    default:
      return <Fallback>This part needs a newer version of this page.</Fallback>;
  }
}

function Columns({ block: { children } }: { block: ColumnsBlock }) {
  return (
    <div class={`p-b-columns p-b-columns-${children.length}`}>
      {children.map((child, at) => (
        <div class="p-b-column" key={child.id === "" ? `at ${at}` : child.id}>
          <BlockList blocks={[child]} />
        </div>
      ))}
    </div>
  );
}

function Card({ block: { title, children }, level }: { block: CardBlock; level: number }) {
  const titleId = useId();
  return title === "" ? (
    <div class="p-b-card">
      <BlockList blocks={children} />
    </div>
  ) : (
    <section class="p-b-card" aria-labelledby={titleId}>
      <Heading level={level} id={titleId} class="p-b-card-title">
        {title}
      </Heading>
      <BlockList blocks={children} />
    </section>
  );
}
