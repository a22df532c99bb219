/** A chart on a canvas. Loads Chart.js, so it is loaded only when there is a chart. */

import { ChartBlock_Kind as Kind } from "@parley/client/v1/blocks";
import {
  ArcElement,
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  DoughnutController,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
} from "chart.js";
import { shortNumber } from "./numbers";
import { alongTime, type Point, type Series, timeTicks } from "./points";
import { readColours } from "./theme";

Chart.register(
  ArcElement,
  BarController,
  BarElement,
  CategoryScale,
  DoughnutController,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
);

const SLICES = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `--p-series-${number}`);
const NAMES = ["--p-chart-text", "--p-chart-grid", "--p-chart-fill", ...SLICES];
/** More points than this are drawn as a line without dots. */
const MOST_DOTS = 40;
/** How many dates stand below a chart. */
const MOST_DATES = 6;
/** How many letters of a label stand below a chart; all of them are in its data. */
const LABEL_LENGTH = 16;

interface Colours {
  readonly text: string;
  readonly grid: string;
  readonly fill: string;
  readonly series: readonly string[];
}

type Configuration = ChartConfiguration<"line" | "bar" | "doughnut", unknown[], string>;

/** Draws one chart for as long as its canvas is there. */
export class Drawing {
  readonly #canvas: HTMLCanvasElement;
  readonly #kind: Kind;
  #chart: Chart<"line" | "bar" | "doughnut", unknown[], string> | undefined;
  #series: Series;

  constructor(canvas: HTMLCanvasElement, kind: Kind, series: Series) {
    this.#canvas = canvas;
    this.#kind = kind;
    this.#series = series;
    this.draw(series);
  }

  /** Draws other points with the chart that is there. */
  draw(series: Series): void {
    this.#series = series;
    const configuration = configure(this.#kind, series, this.#colours());
    if (this.#chart === undefined) {
      this.#chart = new Chart(this.#canvas, configuration);
      return;
    }
    this.#chart.data = configuration.data;
    this.#chart.options = configuration.options ?? {};
    this.#chart.update();
  }

  /** Draws the same points in the colours that the page has now. */
  recolour(): void {
    this.draw(this.#series);
  }

  /** Lets go of the canvas. */
  destroy(): void {
    this.#chart?.destroy();
  }

  #colours(): Colours {
    const [text = "", grid = "", fill = "", ...series] = readColours(
      this.#canvas.parentElement ?? document.body,
      NAMES,
    );
    return { text, grid, fill, series };
  }
}

function configure(kind: Kind, series: Series, colours: Colours): Configuration {
  const { points } = series;
  const common = {
    responsive: true,
    maintainAspectRatio: false,
    animation: still() ? (false as const) : { duration: 250 },
    plugins: {
      tooltip: {
        displayColors: false,
        callbacks: {
          title: (items: readonly { dataIndex: number }[]) =>
            items.map(({ dataIndex }) => points[dataIndex]?.label ?? ""),
          label: ({ dataIndex }: { dataIndex: number }) => points[dataIndex]?.text ?? "",
        },
      },
    },
  };
  if (kind === Kind.DONUT) {
    return {
      type: "doughnut",
      data: {
        labels: points.map(({ label }) => label),
        datasets: [
          {
            data: points.map(({ value }) => value),
            backgroundColor: points.map((_, at) => colours.series[at % colours.series.length]),
            borderWidth: 0,
            spacing: 2,
          },
        ],
      },
      options: { ...common, cutout: "62%" } as Configuration["options"],
    } as Configuration;
  }
  const bars = kind === Kind.BAR;
  const byTime = !bars && alongTime(points);
  const [first = ""] = colours.series;
  return {
    type: bars ? "bar" : "line",
    data: {
      labels: points.map(({ label }) => label),
      datasets: [
        {
          label: series.valueTitle,
          data: byTime
            ? points.map(({ at, value }) => ({ x: at, y: value }))
            : points.map(({ value }) => value),
          borderColor: first,
          backgroundColor: bars ? first : colours.fill,
          pointBackgroundColor: first,
          pointRadius: points.length > MOST_DOTS ? 0 : 3,
          borderWidth: bars ? 0 : 2,
          borderRadius: 4,
          maxBarThickness: 48,
          fill: kind === Kind.AREA ? "origin" : false,
          tension: 0,
          // The first and the last dot stand on the edge; they are not to be cut in half.
          clip: 6,
        },
      ],
    },
    options: {
      ...common,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: {
        x: byTime ? timeAxis(points, colours) : labelAxis(points, colours),
        y: {
          beginAtZero: kind !== Kind.LINE,
          border: { display: false },
          grid: { color: colours.grid },
          ticks: {
            color: colours.text,
            maxTicksLimit: 6,
            callback: (value: number | string) => shortNumber(Number(value)),
          },
        },
      },
    },
  } as Configuration;
}

function labelAxis(points: readonly Point[], colours: Colours) {
  return {
    grid: { display: false },
    border: { color: colours.grid },
    ticks: {
      color: colours.text,
      autoSkipPadding: 12,
      maxRotation: 45,
      callback: (_: unknown, at: number) => shorten(points[at]?.label ?? ""),
    },
  };
}

function timeAxis(points: readonly Point[], colours: Colours) {
  const ticks = timeTicks(points, MOST_DATES);
  const labels = new Map(ticks.map(({ at, label }) => [at, label]));
  return {
    type: "linear",
    min: points[0]?.at,
    max: points.at(-1)?.at,
    grid: { display: false },
    border: { color: colours.grid },
    // A linear axis would put its marks at round numbers of milliseconds, which are no dates of the data.
    afterBuildTicks: (axis: { ticks: { value: number }[] }) => {
      axis.ticks = ticks.map(({ at = 0 }) => ({ value: at }));
    },
    ticks: {
      color: colours.text,
      autoSkip: true,
      autoSkipPadding: 12,
      maxRotation: 0,
      callback: (value: number | string) => labels.get(Number(value)) ?? "",
    },
  };
}

function shorten(label: string): string {
  return label.length > LABEL_LENGTH ? `${label.slice(0, LABEL_LENGTH - 1)}…` : label;
}

function still(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
