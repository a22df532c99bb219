/** A chart, and its data for those who don't see it. */

import {
  type Block,
  BlockHeight,
  type ChartBlock,
  ChartBlock_Kind as Kind,
} from "@parley/client/v1/blocks";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { ScrollArea } from "../text/scroll_area";
import type { Drawing } from "./drawing";
import { Failure } from "./failure";
import { boundSeries, ownSeries, type Series, shares, summary } from "./points";
import { onThemeChange } from "./theme";
import { type Data, rowsOf, useData } from "./use_data";

const KINDS: Partial<Record<Kind, string>> = {
  [Kind.LINE]: "Line chart",
  [Kind.BAR]: "Bar chart",
  [Kind.AREA]: "Area chart",
  [Kind.DONUT]: "Donut chart",
};
const HEIGHTS: Partial<Record<BlockHeight, string>> = {
  [BlockHeight.MD]: "p-b-height-md",
  [BlockHeight.LG]: "p-b-height-lg",
};
/** How many colours there are for slices before they begin again. */
const COLOURS = 8;

/** Draws data of one series. */
export function Chart({ block, chart }: { block: Block; chart: ChartBlock }) {
  const titleId = useId();
  const data = useData(block, 0);
  const series = seriesOf(chart, data);
  const kind = KINDS[chart.kind];
  const height = HEIGHTS[chart.height] ?? "p-b-height-sm";
  return (
    <figure
      class="p-b-data"
      aria-labelledby={chart.title === "" ? undefined : titleId}
      aria-busy={data.state === "loading"}
    >
      {chart.title !== "" && (
        <figcaption id={titleId} class="p-b-data-title">
          {chart.title}
        </figcaption>
      )}
      {series === undefined ? (
        <Waiting data={data} height={height} />
      ) : series.points.length === 0 ? (
        <p class="p-b-empty p-b-waiting">{chart.emptyText || "There is nothing to draw."}</p>
      ) : (
        <>
          {kind !== undefined && (
            <Canvas
              kind={chart.kind}
              series={series}
              label={summary(kind, series)}
              height={height}
            />
          )}
          <Legend chart={chart} series={series} />
          <Values series={series} open={kind === undefined} />
        </>
      )}
    </figure>
  );
}

function seriesOf({ source }: ChartBlock, data: Data): Series | undefined {
  switch (source.case) {
    case "points":
      return ownSeries(source.value);
    case "binding": {
      const { rows, grain } = rowsOf(data);
      if (rows !== undefined) {
        return boundSeries(source.value, rows, grain);
      }
      return data.state === "none" ? { labelTitle: "", valueTitle: "", points: [] } : undefined;
    }
    default:
      return { labelTitle: "", valueTitle: "", points: [] };
  }
}

function Waiting({ data, height }: { data: Data; height: string }) {
  return data.state === "failed" ? (
    <Failure message={data.message} onRetry={data.retry} />
  ) : (
    <div class={`p-b-skeleton ${height}`}>
      <span class="p-b-hidden">The data is being loaded.</span>
    </div>
  );
}

function Canvas(props: { kind: Kind; series: Series; label: string; height: string }) {
  const { kind, series, label, height } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<Drawing | undefined>(undefined);
  const [failed, setFailed] = useState(false);
  // Drawing a document again makes all its messages anew; only other points are a reason to draw the chart again.
  const points = JSON.stringify([series.valueTitle, series.points]);
  const drawn = useMemo(() => series, [points]);
  const latest = useRef(drawn);
  latest.current = drawn;

  useEffect(() => {
    let gone = false;
    // Loaded only here, so that neither the page nor the first words of a reply wait for it.
    import("./drawing").then(
      (loaded) => {
        if (!gone && canvas.current !== null) {
          drawing.current = new loaded.Drawing(canvas.current, kind, latest.current);
        }
      },
      () => setFailed(true),
    );
    const end = onThemeChange(() => drawing.current?.recolour());
    return () => {
      gone = true;
      end();
      drawing.current?.destroy();
      drawing.current = undefined;
    };
  }, [kind]);
  useEffect(() => drawing.current?.draw(drawn), [drawn]);

  return failed ? (
    <p class="p-b-empty">The chart couldn't be loaded; its values are below.</p>
  ) : (
    <div class={`p-b-canvas ${height}`}>
      <canvas ref={canvas} role="img" aria-label={label} />
    </div>
  );
}

function Legend({ chart, series }: { chart: ChartBlock; series: Series }) {
  const slices = chart.kind === Kind.DONUT;
  // The slices of a ring have no axis that would name them.
  if (!(chart.legend ?? slices)) {
    return null;
  }
  const parts = slices ? shares(series.points) : undefined;
  return (
    <ul class="p-b-legend">
      {slices ? (
        series.points.map(({ label, text }, at) => (
          <li key={at}>
            <span class={`p-b-swatch p-b-swatch-${(at % COLOURS) + 1}`} aria-hidden="true" />
            {label}: {text}
            {parts === undefined ? "" : ` (${parts[at]})`}
          </li>
        ))
      ) : (
        <li>
          <span class="p-b-swatch p-b-swatch-1" aria-hidden="true" />
          {series.valueTitle}
        </li>
      )}
    </ul>
  );
}

function Values({ series, open }: { series: Series; open: boolean }) {
  const [unfolded, setUnfolded] = useState(open);
  return (
    <details
      class="p-b-values"
      open={unfolded}
      onToggle={(event) => setUnfolded(event.currentTarget.open)}
    >
      <summary>Show data</summary>
      {unfolded && (
        <ScrollArea label="Data of the chart" class="p-b-rows">
          <table class="p-b-table">
            <thead>
              <tr>
                <th scope="col" class="p-b-left">
                  {series.labelTitle}
                </th>
                <th scope="col" class="p-b-right">
                  {series.valueTitle}
                </th>
              </tr>
            </thead>
            <tbody>
              {series.points.map(({ label, text }, at) => (
                <tr key={at}>
                  <th scope="row">{label}</th>
                  <td class="p-b-right">{text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollArea>
      )}
    </details>
  );
}
