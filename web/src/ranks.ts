// Ranks side by side: where their time went.

import { scaleLinear } from "d3-scale";
import { h, legend, s, section, table } from "./dom";
import { bytes, count, exact, time, timeUnit } from "./format";
import { groupName, type Run } from "./model";

interface Part {
  name: string;
  style: string;
  /** By group, as a mean over its ranks. */
  values: number[];
}

/** The parts of the time of each group of ranks. */
export function partsOf(run: Run): Part[] {
  const ranks = run.ranks;
  const sizes: number[] = ranks.ranks;
  const mean = (sums: number[]) => sums.map((sum, group) => sum / Math.max(1, sizes[group]));
  const activity = run.activity;
  const busy: Part[] = activity
    ? [
        { name: "computation", style: "compute", values: mean(activity.compute_ps) },
        { name: "sending", style: "send", values: mean(activity.send_ps) },
        { name: "receiving", style: "receive", values: mean(activity.receive_ps) },
      ]
    : [{ name: "busy", style: "compute", values: mean(ranks.busy_ps) }];
  return [
    ...busy,
    { name: "blocked", style: "blocked", values: mean(ranks.blocked_ps) },
    { name: "waiting", style: "waiting", values: mean(ranks.waiting_ps) },
  ].filter((part) => part.values.some((value) => value > 0));
}

export function ranks(run: Run): HTMLElement | null {
  const found = run.ranks;
  if (!found || !(found.count > 0)) return null;
  const parts = partsOf(run);
  const groups: number = found.ranks.length;
  const grouped = found.count > groups;
  const head = [
    grouped ? "ranks" : "rank",
    "finish",
    ...parts.map((part) => part.name),
    "sent",
    "bytes sent",
    "received",
  ];
  const row = (group: number) => [
    groupName(found.count, groups, group).replace(/^ranks? /, ""),
    exactCell(found.finish_ps[group]),
    ...parts.map((part) => exactCell(part.values[group])),
    count(found.sent_messages[group]),
    bytes(found.sent_bytes[group]),
    count(found.received_messages[group]),
  ];
  const details = h("details", {}, h("summary", {}, "The same as a table"));
  details.addEventListener(
    "toggle",
    () => {
      const rows = Array.from({ length: groups }, (_, group) => row(group));
      const numeric = head.map((_, place) => place).slice(1);
      details.append(table("Where the time of ranks went", head, rows, numeric));
    },
    { once: true },
  );
  return section(
    "ranks",
    "Ranks",
    h(
      "p",
      { class: "about" },
      grouped
        ? `Each column is the mean of a group of neighbours among ${count(found.count)} ranks.`
        : "Each column is a rank, up to its finish.",
    ),
    legend(parts.map((part) => [part.name, part.style])),
    chart(run, parts),
    details,
  );
}

function exactCell(ps: number): Node {
  return h("span", { title: exact(ps) }, time(ps));
}

function chart(run: Run, parts: Part[]): SVGElement {
  const found = run.ranks;
  const groups: number = found.ranks.length;
  const [width, height, left, bottom] = [1000, 240, 62, 22];
  const sum = (group: number) => parts.reduce((sum, part) => sum + part.values[group], 0);
  const sums = Array.from({ length: groups }, (_, group) => sum(group));
  const most = Math.max(...sums, 1);
  const y = scaleLinear([0, most], [height - bottom, 8]);
  const step = (width - left - 4) / groups;
  const gap = step > 6 ? Math.min(4, step * 0.2) : 0;
  const [length, unit] = timeUnit(most);
  const children: SVGElement[] = [];
  for (const tick of scaleLinear([0, most / length], [0, 1]).ticks(5)) {
    const at = y(tick * length);
    children.push(
      s("line", { x1: left, x2: width, y1: at, y2: at, class: "grid" }),
      s("text", { x: left - 6, y: at + 4, class: "axis end" }, `${tick} ${unit}`),
    );
  }
  for (let group = 0; group < groups; group++) {
    let base = 0;
    const texts = parts.map((part) => `${part.name} ${exact(part.values[group])}`);
    const name = groupName(found.count, groups, group);
    const column = s("g", {}, s("title", {}, `${name}\n${texts.join("\n")}`));
    const x = left + group * step;
    for (const part of parts) {
      const top = base + part.values[group];
      const box = { x, y: y(top), width: step - gap, height: Math.max(0, y(base) - y(top)) };
      column.append(s("rect", { ...box, class: `fill-${part.style}` }));
      base = top;
    }
    children.push(column);
  }
  const every = Math.max(1, Math.ceil(groups / 16));
  for (let group = 0; group < groups; group += every) {
    const x = left + (group + 0.5) * step - gap / 2;
    const text = groupName(found.count, groups, group).replace(/^ranks? /, "").split(" ")[0];
    children.push(s("text", { x, y: height - 5, class: "axis middle" }, text));
  }
  const label = `Time of ${count(found.count)} ranks; the table below has the figures.`;
  const view = { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img" };
  return s("svg", { ...view, "aria-label": label }, ...children);
}
