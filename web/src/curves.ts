// Latency and accepted load over offered load, with the intervals of their means.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { colour, h, onColours, section, table } from "./dom";
import { exact, number, percent, time, timeUnit } from "./format";
import type { Run } from "./model";

interface Curve {
  name: string;
  unit: string;
  style: string;
  values: (number | null)[];
  half: (number | null)[];
  /** Further curves without intervals. */
  others: { name: string; style: string; values: (number | null)[] }[];
  diagonal?: boolean;
}

/** Draws a curve with its band into a box, and again when its size or the colours change. */
function draw(box: HTMLElement, x: number[], xName: string, curve: Curve) {
  let plot: uPlot | undefined;
  const make = () => {
    plot?.destroy();
    const width = box.clientWidth;
    if (width === 0) return;
    const grid = { stroke: colour("grid") };
    const axis = { stroke: colour("quiet"), grid, ticks: { show: false } };
    const edge = (sign: number) =>
      curve.values.map((value, place) => {
        const half = curve.half[place];
        return value === null || half === null ? null : value + sign * half;
      });
    const stroke = colour(curve.style);
    const label = (value: number | null) => number(value);
    const value = (_: uPlot, shown: number | null) => label(shown);
    const hidden = { stroke: "transparent", points: { show: false }, value };
    const others = curve.others.map((other) => ({
      label: other.name,
      stroke: colour(other.style),
      dash: [4, 3],
      value,
    }));
    plot = new uPlot(
      {
        width,
        height: 300,
        scales: { x: { time: false } },
        axes: [
          { ...axis, label: xName, labelSize: 20, size: 34 },
          { ...axis, label: `${curve.name}, ${curve.unit}`, size: 58 },
        ],
        series: [
          { label: "offered", value },
          { label: curve.name, stroke, width: 2, points: { size: 6 }, value },
          { label: "from", ...hidden },
          { label: "to", ...hidden },
          ...others,
        ],
        bands: [{ series: [3, 2], fill: `${stroke}33` }],
      },
      [x, curve.values, edge(-1), edge(1), ...curve.others.map((other) => other.values)],
      box,
    );
    // The edges of the band need no names.
    const entries = [...plot.root.querySelectorAll<HTMLElement>(".u-series")];
    for (const entry of entries.slice(2, 4)) entry.style.display = "none";
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", `${curve.name} over ${xName}; the table has the figures`);
  };
  onColours(make);
  let last = 0;
  new ResizeObserver(() => {
    if (box.clientWidth !== last) make();
    last = box.clientWidth;
  }).observe(box);
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
  const plots = h("div", { class: "columns" });
  if (points.length > 1) {
    const x = points.map((point) => point.offered);
    const steady = (of: (point: any) => number | null) =>
      points.map((point) => (point.saturated ? null : (of(point) ?? null)));
    const longest = Math.max(...steady((point) => point.latency_ps).map((value) => value ?? 0), 1);
    const [length, unit] = timeUnit(longest);
    const scaled = (key: string) =>
      steady((point) => (point[key] == null ? null : point[key] / length));
    const latency: Curve = {
      name: "mean latency",
      unit,
      style: "compute",
      values: scaled("latency_ps"),
      half: scaled("latency_half_width_ps"),
      others: [{ name: "99 %", style: "send", values: scaled("p99_ps") }],
    };
    const accepted: Curve = {
      name: "accepted load",
      unit: "share",
      style: "receive",
      values: points.map((point) => point.accepted),
      half: points.map((point) => point.accepted_half_width),
      others: [{ name: "offered", style: "quiet", values: x }],
    };
    for (const curve of [latency, accepted]) {
      const box = h("div", { class: "plot" });
      plots.append(box);
      draw(box, x, "offered load", curve);
    }
  }
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
