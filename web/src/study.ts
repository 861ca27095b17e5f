// The table of a study, and a figure of it over what varies.

import { scaleLinear, scaleLog } from "d3-scale";
import { h, s, section, table } from "./dom";
import { count, exact, number, time, timeUnit } from "./format";
import type { Run } from "./model";

/** Rows of the table that are shown at a time. */
const SHOWN = 200;
/** Series that are drawn. */
const SERIES_SHOWN = 12;
/** Colours of series, which also differ by their marks. */
const SERIES = ["compute", "send", "receive", "contention", "blocked", "network"];

export function study(run: Run): HTMLElement {
  const [columns, rows] = ordered(run.columns ?? [], run.rows ?? []);
  const isTime = (name: string) => name.endsWith("_ps");
  const cell = (name: string, value: string) =>
    isTime(name) && value !== ""
      ? h("span", { title: exact(Number(value)), "data-cell": name }, time(Number(value)))
      : value;
  const named = (name: string) => (isTime(name) ? name.slice(0, -3) : name);
  const body = h("div");
  let first = 0;
  const show = (from: number) => {
    first = Math.max(0, Math.min(from, rows.length - 1));
    const part = rows.slice(first, first + SHOWN);
    const cells = part.map((row) => row.map((value, place) => cell(columns[place], value)));
    const caption = `Runs ${first + 1} to ${first + part.length} of ${count(run.total)}`;
    body.replaceChildren(table(caption, columns.map(named), cells));
  };
  show(0);
  const pages =
    rows.length > SHOWN
      ? h(
          "div",
          { class: "controls" },
          h("button", { type: "button", click: () => show(first - SHOWN) }, "Previous"),
          h("button", { type: "button", click: () => show(first + SHOWN) }, "Next"),
        )
      : null;
  return section("study", "Study", figure(columns, rows, run.varied ?? columns), pages, body);
}

/** The columns with the makespan before all other figures. */
function ordered(columns: string[], rows: string[][]): [string[], string[][]] {
  const makespan = columns.indexOf("makespan_ps");
  const figures = columns.indexOf("bytes");
  if (makespan < 0 || figures < 0) return [columns, rows];
  const move = (row: string[]) => {
    const rest = row.filter((_, place) => place !== makespan);
    return [...rest.slice(0, figures), row[makespan], ...rest.slice(figures)];
  };
  return [move(columns), rows.map(move)];
}

/** The number in a cell, with the unit of a size or time taken into account. */
function quantity(text: string): number {
  const found = /^([\d.]+)\s*([a-zA-Zµ]*)/.exec(text);
  if (!found) return Number.NaN;
  const units: Record<string, number> = {
    ...{ B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, kB: 1e3, MB: 1e6, GB: 1e9 },
    ...{ ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12 },
  };
  return Number(found[1]) * (units[found[2]] ?? 1);
}

function figure(columns: string[], rows: string[][], varied: string[]): HTMLElement | null {
  const varying = columns.filter((name, place) => {
    const values = new Set(rows.map((row) => row[place]));
    // A run of traffic has a row for each load.
    return (varied.includes(name) || name === "load") && values.size > 1;
  });
  const figures = columns.filter((name) => name.endsWith("_ps") && !varying.includes(name));
  if (figures.length === 0 || varying.length === 0) return null;
  const select = (label: string, options: string[]) => {
    const items = options.map((name) => h("option", { value: name }, name));
    const made = h("select", {}, ...items);
    made.addEventListener("change", () => draw());
    return [h("label", {}, `${label} `, made), made] as const;
  };
  const [yLabel, y] = select("Figure", figures);
  const [xLabel, x] = select("over", varying);
  // The last list of a study varies fastest. Runs of several seeds are points at one place.
  const shown = varying.filter((name) => name !== "run.seed");
  x.value = varying.includes("load") ? "load" : (shown.at(-1) ?? varying[0]);
  const usual = ["makespan_ps", "latency.mean_ps"].find((name) => figures.includes(name));
  if (usual) y.value = usual;
  const box = h("div");
  const draw = () => {
    const by = varying.filter((name) => name !== x.value && name !== "run.seed");
    box.replaceChildren(...plot(columns, rows, x.value, y.value, by));
  };
  draw();
  return h("div", {}, h("div", { class: "controls" }, yLabel, xLabel), box);
}

function plot(columns: string[], rows: string[][], x: string, y: string, by: string[]): Element[] {
  const [xs, ys, ...bys] = [x, y, ...by].map((name) => columns.indexOf(name));
  const texts = [...new Set(rows.map((row) => row[xs]))];
  const numeric = texts.every((text) => Number.isFinite(quantity(text)));
  const at = (text: string) => (numeric ? quantity(text) : texts.indexOf(text));
  const series = new Map<string, [number, number][]>();
  for (const row of rows) {
    if (row[ys] === "") continue;
    const name = bys.map((place) => row[place]).join(", ");
    const points = series.get(name) ?? [];
    points.push([at(row[xs]), Number(row[ys])]);
    series.set(name, points);
  }
  const points = [...series.values()].flat();
  if (points.length === 0) return [];
  const [low, high] = [Math.min(...points.map(([x]) => x)), Math.max(...points.map(([x]) => x))];
  const most = Math.max(...points.map(([, y]) => y));
  const [width, height, left, bottom] = [1000, 320, 70, 40];
  const wide = numeric && low > 0 && high / low > 20;
  const range = [left + 10, width - 290];
  const xScale = wide ? scaleLog([low, high], range) : scaleLinear([low, high || 1], range);
  const yScale = scaleLinear([0, most], [height - bottom, 10]);
  const [length, unit] = timeUnit(most);
  const children: Element[] = [];
  for (const tick of scaleLinear([0, most / length], [0, 1]).ticks(5)) {
    const line = { x1: left, x2: range[1], y1: yScale(tick * length), y2: yScale(tick * length) };
    const label = { x: left - 6, y: yScale(tick * length) + 4, class: "axis end" };
    children.push(s("line", { ...line, class: "grid" }));
    children.push(s("text", label, `${number(tick)} ${unit}`));
  }
  const every = Math.ceil(texts.length / 10);
  texts.filter((_, place) => place % every === 0).forEach((text) => {
    const label = { x: xScale(at(text)), y: height - 18, class: "axis middle" };
    children.push(s("text", label, text));
  });
  const middle = (range[0] + range[1]) / 2;
  children.push(s("text", { x: middle, y: height - 2, class: "axis middle" }, x));
  [...series].slice(0, SERIES_SHOWN).forEach(([name, points], place) => {
    const style = SERIES[place % SERIES.length];
    points.sort(([one], [other]) => one - other);
    const line = points.map(([x, y]) => `${xScale(x)},${yScale(y)}`).join(" ");
    const dash = place >= SERIES.length ? "6 4" : undefined;
    children.push(
      s("polyline", { points: line, class: `line stroke-${style}`, "stroke-dasharray": dash }),
      ...points.map(([x, y]) =>
        s(
          "circle",
          { cx: xScale(x), cy: yScale(y), r: 4, class: `fill-${style}` },
          s("title", {}, `${name} ${exact(y)}`),
        ),
      ),
    );
    const label = { x: range[1] + 32, y: 20 + place * 18, class: "axis" };
    const mark = { cx: range[1] + 22, cy: 16 + place * 18, r: 4, class: `fill-${style}` };
    if (name) children.push(s("circle", mark), s("text", label, name));
  });
  if (series.size > SERIES_SHOWN) {
    const label = { x: range[1] + 22, y: 24 + SERIES_SHOWN * 18, class: "axis" };
    children.push(s("text", label, `and ${series.size - SERIES_SHOWN} more in the table`));
  }
  const view = { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img" };
  const label = `${y} over ${x}; the table has the figures`;
  return [s("svg", { ...view, "aria-label": label }, ...children)];
}
