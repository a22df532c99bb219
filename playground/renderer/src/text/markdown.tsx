/** Markdown as nodes of the page. */

import type { AlignType, Nodes, RootContent, Table } from "mdast";
import type { ComponentChildren, VNode } from "preact";
import { Fragment } from "preact";
import { useMemo } from "preact/hooks";
import { Heading } from "./heading";
import { hostOf, isDataImage, safeLink } from "./links";
import { ScrollArea } from "./scroll_area";
import { headingLevels, markdownTree } from "./tree";

/** Deeper than this nobody indents a text; a hostile one would make the browser's stack overflow. */
const DEEPEST = 30;

/** What the nodes of a text need of the others. */
interface Reading {
  readonly source: string;
  readonly levels: ReadonlyMap<Nodes, number>;
  /** Are the addresses of links and images that are defined at another place of the text. */
  readonly definitions: ReadonlyMap<string, string>;
  /** Are the numbers of the footnotes. */
  readonly notes: ReadonlyMap<string, number>;
}

/**
 * Shows a text in Markdown, with the tables, task lists and footnotes of GitHub's.
 *
 * HTML in it is shown as the text that it is. Links lead to whole addresses of https, http or mailto alone; of images only
 * those are shown that the text holds itself. `level` is the level of the highest heading.
 */
export function Markdown({ text, level = 3 }: { text: string; level?: number }) {
  const content = useMemo(() => {
    const { children } = markdownTree(text);
    return <>{drawAll(children, read(text, children, level), 0)}</>;
  }, [text, level]);
  return <div class="p-markdown">{content}</div>;
}

function read(source: string, children: readonly RootContent[], top: number): Reading {
  const headings: Nodes[] = [];
  const depths: number[] = [];
  const definitions = new Map<string, string>();
  const notes = new Map<string, number>();
  const waiting: Nodes[] = [...children].reverse();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.type === "heading") {
      headings.push(node);
      depths.push(node.depth);
    } else if (node.type === "definition" && !definitions.has(node.identifier)) {
      definitions.set(node.identifier, node.url);
    } else if (node.type === "footnoteDefinition" && !notes.has(node.identifier)) {
      notes.set(node.identifier, notes.size + 1);
    }
    if ("children" in node) {
      waiting.push(...[...node.children].reverse());
    }
  }
  const found = headingLevels(depths, top);
  const levels = new Map(headings.map((node, at) => [node, found[at] ?? top]));
  return { source, levels, definitions, notes };
}

function drawAll(nodes: readonly Nodes[], reading: Reading, depth: number): ComponentChildren {
  // The order of a text is all that its nodes have: while it grows, those before stay what they were.
  return nodes.map((node, at) => <Fragment key={at}>{draw(node, reading, depth)}</Fragment>);
}

function draw(node: Nodes, reading: Reading, depth: number): ComponentChildren {
  if (depth > DEEPEST) {
    return sourceOf(node, reading);
  }
  const inside = () => ("children" in node ? drawAll(node.children, reading, depth + 1) : null);
  switch (node.type) {
    case "paragraph":
      return <p>{inside()}</p>;
    case "heading":
      return <Heading level={reading.levels.get(node) ?? 3}>{inside()}</Heading>;
    case "blockquote":
      return <blockquote>{inside()}</blockquote>;
    case "list":
      return node.ordered ? <ol start={node.start ?? 1}>{inside()}</ol> : <ul>{inside()}</ul>;
    case "listItem":
      return typeof node.checked === "boolean" ? (
        <li class="p-b-task">
          <span class="p-b-task-box" role="img" aria-label={node.checked ? "Done:" : "To do:"}>
            {node.checked ? "☑" : "☐"}
          </span>
          <div>{inside()}</div>
        </li>
      ) : (
        <li>{inside()}</li>
      );
    case "code":
      return (
        <ScrollArea label={node.lang ? `Code in ${node.lang}` : "Code"}>
          <pre class="p-b-code">
            <code>{node.value}</code>
          </pre>
        </ScrollArea>
      );
    case "table":
      return drawTable(node, reading, depth);
    case "thematicBreak":
      return <hr />;
    case "html":
      return depth === 0 ? <p>{node.value}</p> : node.value;
    case "text":
      return node.value;
    case "emphasis":
      return <em>{inside()}</em>;
    case "strong":
      return <strong>{inside()}</strong>;
    case "delete":
      return <del>{inside()}</del>;
    case "inlineCode":
      return <code>{node.value}</code>;
    case "break":
      return <br />;
    case "link":
      return drawLink(node.url, inside());
    case "linkReference":
      return drawLink(reading.definitions.get(node.identifier) ?? "", inside());
    case "image":
      return drawImage(node.url, node.alt ?? "");
    case "imageReference":
      return drawImage(reading.definitions.get(node.identifier) ?? "", node.alt ?? "");
    case "footnoteReference":
      return <sup>[{reading.notes.get(node.identifier) ?? node.identifier}]</sup>;
    case "footnoteDefinition":
      return (
        <div class="p-b-footnote" role="note">
          <span>[{reading.notes.get(node.identifier) ?? node.identifier}]</span>
          <div>{inside()}</div>
        </div>
      );
    case "definition":
      return null;
    default:
      return sourceOf(node, reading);
  }
}

function drawTable({ children, align }: Table, reading: Reading, depth: number): VNode {
  const [head, ...body] = children;
  const side = (at: number) => SIDES[(align ?? [])[at] ?? "none"];
  const inside = (nodes: readonly Nodes[]) => drawAll(nodes, reading, depth + 3);
  return (
    <ScrollArea label="Table">
      <table class="p-b-table">
        <thead>
          <tr>
            {head?.children.map((cell, at) => (
              <th key={at} scope="col" class={side(at)}>
                {inside(cell.children)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((row, number) => (
            <tr key={number}>
              {row.children.map((cell, at) => (
                <td key={at} class={side(at)}>
                  {inside(cell.children)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

const SIDES: Record<NonNullable<AlignType> | "none", string> = {
  left: "p-b-left",
  right: "p-b-right",
  center: "p-b-center",
  none: "p-b-left",
};

function drawLink(url: string, children: ComponentChildren): ComponentChildren {
  const href = safeLink(url);
  return href === undefined ? (
    children
  ) : (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function drawImage(url: string, alt: string): VNode {
  if (isDataImage(url)) {
    return <img class="p-b-image" src={url} alt={alt} />;
  }
  const host = hostOf(url);
  return (
    <span class="p-b-image-text">
      {alt || "Image"}
      {host === undefined ? "" : ` (an image at ${host}, not loaded)`}
    </span>
  );
}

function sourceOf(node: Nodes, { source }: Reading): string {
  const { start, end } = node.position ?? {};
  return source.slice(start?.offset ?? 0, end?.offset ?? 0);
}
