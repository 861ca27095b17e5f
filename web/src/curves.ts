// Latency and accepted load over offered load, with the intervals of their means.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { colour, h, onColours, section, table } from "./dom";
import { exact, number, percent, time, timeUnit } from "./format";
import type { Run } from "./model";

interface Line {
  name: string;
  style: string;
  values: (number | null)[];
  /** Half the width of the interval of each value. */
  half?: (number | null)[];
  dashed?: boolean;
}

interface Chart {
  name: string;
  unit: string;
  lines: Line[];
}

const STYLES = ["compute", "send", "receive", "contention", "blocked", "network"];

/** The lower or the upper edge of the band of a line. */
function edge(line: Line, sign: number): (number | null)[] {
  return line.values.map((value, place) => {
    const half = line.half?.[place] ?? null;
    return value === null || half === null ? null : value + sign * half;
  });
}

/** Draws lines with their bands into a box, and again when its size or the colours change. */
function draw(box: HTMLElement, x: number[], xName: string, chart: Chart) {
  let plot: uPlot | undefined;
  const make = () => {
    plot?.destroy();
    const width = box.clientWidth;
    if (width === 0) return;
    const grid = { stroke: colour("grid") };
    const axis = { stroke: colour("quiet"), grid, ticks: { show: false } };
    const value = (_: uPlot, shown: number | null) => number(shown);
    const series: uPlot.Series[] = [{ label: "offered", value }];
    const data: (number | null)[][] = [x];
    const bands: uPlot.Band[] = [];
    const edges: number[] = [];
    for (const line of chart.lines) {
      const stroke = colour(line.style);
      const shape = line.dashed ? { dash: [4, 3] } : { width: 2, points: { size: 6 } };
      series.push({ label: line.name, stroke, value, spanGaps: true, ...shape });
      data.push(line.values);
      if (!line.half) continue;
      const first = series.length;
      const hidden = { stroke: "transparent", points: { show: false }, value, spanGaps: true };
      series.push({ label: "from", ...hidden }, { label: "to", ...hidden });
      data.push(edge(line, -1), edge(line, 1));
      bands.push({ series: [first + 1, first], fill: `${stroke}33` });
      edges.push(first, first + 1);
    }
    plot = new uPlot(
      {
        width,
        height: 300,
        scales: { x: { time: false } },
        axes: [
          { ...axis, label: xName, labelSize: 20, size: 34 },
          { ...axis, label: `${chart.name}, ${chart.unit}`, size: 58 },
        ],
        series,
        bands,
      },
      data as uPlot.AlignedData,
      box,
    );
    // The edges of bands need no names.
    const entries = [...plot.root.querySelectorAll<HTMLElement>(".u-series")];
    for (const place of edges) entries[place].style.display = "none";
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", `${chart.name} over ${xName}; tables have the figures`);
  };
  onColours(make);
  let last = 0;
  new ResizeObserver(() => {
    if (box.clientWidth !== last) make();
    last = box.clientWidth;
  }).observe(box);
}

/** The charts beside each other. */
function plotted(x: number[], charts: Chart[]): HTMLElement {
  const plots = h("div", { class: "columns" });
  for (const chart of charts) {
    const box = h("div", { class: "plot" });
    plots.append(box);
    draw(box, x, "offered load", chart);
  }
  return plots;
}

/** A figure of the points that are not saturated. */
const steady = (points: any[], key: string): (number | null)[] =>
  points.map((point) => (point.saturated ? null : (point[key] ?? null)));

/** The unit of time that suits all latencies: its length in picoseconds, and its name. */
const unitOf = (points: any[]) =>
  timeUnit(Math.max(...steady(points, "latency_ps").map((value) => value ?? 0), 1));

/** Latency and accepted load of several runs over the offered load. */
export function versus(runs: Run[]): HTMLElement {
  const all = runs.flatMap((run) => run.points ?? []);
  const x = [...new Set<number>(all.map((point) => point.offered))].sort((a, b) => a - b);
  const [length, unit] = unitOf(all);
  const line = (run: Run, place: number, of: (key: string) => (number | null)[], key: string) => {
    const points = run.points ?? [];
    const at = (values: (number | null)[]) =>
      x.map((offered) => values[points.findIndex((point) => point.offered === offered)] ?? null);
    const half = key.replace("_ps", "").concat("_half_width", key.endsWith("_ps") ? "_ps" : "");
    const style = STYLES[place % STYLES.length];
    return { name: run.name, style, values: at(of(key)), half: at(of(half)) };
  };
  const scaled = (points: any[]) => (key: string) =>
    steady(points, key).map((value) => (value === null ? null : value / length));
  const plain = (points: any[]) => (key: string) => points.map((point) => point[key] ?? null);
  const latency = runs.map((run, place) => line(run, place, scaled(run.points ?? []), "latency_ps"));
  const accepted = runs.map((run, place) => line(run, place, plain(run.points ?? []), "accepted"));
  const offered: Line = { name: "offered", style: "quiet", values: x, dashed: true };
  const about = "Bands are the intervals of the means; saturated loads have no latency.";
  return h(
    "div",
    {},
    h("h3", {}, "Latency and load"),
    h("p", { class: "about" }, about),
    plotted(x, [
      { name: "mean latency", unit, lines: latency },
      { name: "accepted load", unit: "share", lines: [...accepted, offered] },
    ]),
  );
}

export function curves(run: Run): HTMLElement | null {
  const points = run.points ?? [];
  if (points.length === 0) return null;
  const head = [
    "load",
    "offered",
    "accepted",
    "±",
    "mean latency",
    "±",
    "median",
    "95 %",
    "99 %",
    "longest",
    "messages",
    "state",
  ];
  const rows = points.map((point) => [
    number(point.load),
    number(point.offered),
    number(point.accepted),
    number(point.accepted_half_width),
    h("span", { title: exact(point.latency_ps) }, time(point.latency_ps)),
    time(point.latency_half_width_ps),
    time(point.median_ps),
    time(point.p95_ps),
    time(point.p99_ps),
    time(point.longest_ps),
    String(point.messages),
    point.deadlock_ps != null ? "deadlock" : point.saturated ? "saturated" : "steady",
  ]);
  const numeric = head.map((_, place) => place).slice(1, -1);
  const x = points.map((point) => point.offered);
  const [length, unit] = unitOf(points);
  const scaled = (key: string) =>
    steady(points, key).map((value) => (value === null ? null : value / length));
  const latency: Chart = {
    name: "mean latency",
    unit,
    lines: [
      {
        name: "mean latency",
        style: "compute",
        values: scaled("latency_ps"),
        half: scaled("latency_half_width_ps"),
      },
      { name: "99 %", style: "send", values: scaled("p99_ps"), dashed: true },
    ],
  };
  const accepted: Chart = {
    name: "accepted load",
    unit: "share",
    lines: [
      {
        name: "accepted load",
        style: "receive",
        values: points.map((point) => point.accepted),
        half: points.map((point) => point.accepted_half_width),
      },
      { name: "offered", style: "quiet", values: x, dashed: true },
    ],
  };
  const plots = points.length > 1 ? plotted(x, [latency, accepted]) : null;
  const between = run.saturation?.between;
  const saturated = between
    ? h(
        "p",
        {},
        `Saturated between loads of ${number(between[0])} and ${number(between[1])}, accepting ` +
          `${percent(run.saturation.throughput)}.`,
      )
    : null;
  const about = "Bands are the intervals of the means; saturated loads have no latency.";
  return section(
    "curves",
    "Latency and load",
    points.length > 1 ? h("p", { class: "about" }, about) : null,
    plots,
    saturated,
    table("Measured loads", head, rows, numeric),
  );
}
