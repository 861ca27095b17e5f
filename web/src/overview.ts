// The figures of a run, and the parts of its critical path.

import { h, s, section, table } from "./dom";
import { bytes, count, exact, percent, time } from "./format";
import type { Run } from "./model";

/** The parts of the critical path, with their colours. */
export const PARTS: [string, string, string][] = [
  ["compute", "computation", "compute"],
  ["overhead", "overhead", "send"],
  ["latency", "latency", "latency"],
  ["bandwidth", "bandwidth", "network"],
  ["contention", "contention", "contention"],
  ["waiting", "waiting", "waiting"],
];

/** A figure with its name. */
export function figure(name: string, value: string, title?: string, key?: string): HTMLElement {
  const shown = h("dd", { title, "data-figure": key ?? name }, value);
  return h("div", { class: "figure" }, h("dt", {}, name), shown);
}

/** A bar of parts that fill it. */
export function bar(parts: [string, string, number][], whole: number): SVGElement {
  let left = 0;
  const rects = parts.map(([name, style, value]) => {
    const width = whole > 0 ? (value / whole) * 1000 : 0;
    const title = s("title", {}, `${name}: ${exact(value)}, ${percent(value / whole)}`);
    const rect = s("rect", { x: left, y: 0, width, height: 40, class: `fill-${style}` }, title);
    left += width;
    return rect;
  });
  const text = parts.map(([name, , value]) => `${name} ${percent(value / whole)}`).join(", ");
  const view = { viewBox: "0 0 1000 40", preserveAspectRatio: "none", class: "bar" };
  return s("svg", { ...view, role: "img", "aria-label": text || "empty" }, ...rects);
}

export function overview(run: Run): HTMLElement {
  const summary = run.summary ?? {};
  const makespan = summary.makespan_ps;
  const stuck = summary.deadlock;
  const figures = h(
    "dl",
    { class: "figures" },
    stuck
      ? figure("deadlock after", time(stuck.at_ps), exact(stuck.at_ps), "deadlock")
      : figure("makespan", time(makespan), exact(makespan), "makespan"),
    figure("ranks", count(summary.ranks), undefined, "ranks"),
    figure("messages", count(summary.messages), undefined, "messages"),
    figure("sent", bytes(summary.bytes), `${summary.bytes} B`, "bytes"),
    figure("events", count(summary.events), undefined, "events"),
    summary.signals ? figure("signals", count(summary.signals), undefined, "signals") : null,
  );
  const remarks: string[] = summary.remarks ?? [];
  return section(
    "overview",
    "Overview",
    figures,
    path(run),
    stuck ? deadlock(stuck) : null,
    remarks.length > 0
      ? h("ul", { class: "remarks" }, ...remarks.map((text) => h("li", {}, text)))
      : null,
  );
}

function path(run: Run): HTMLElement | null {
  const found = run.summary?.critical_path;
  if (!found) return null;
  const whole = run.summary.makespan_ps;
  const parts = PARTS.map(([key, name, style]): [string, string, number] => [
    name,
    style,
    found[`${key}_ps`] ?? 0,
  ]);
  const used = parts.filter(([, , value]) => value > 0);
  const items = used.map(([name, style, value]) =>
    h(
      "li",
      {},
      h("span", { class: `swatch ${style}`, "aria-hidden": "true" }),
      h("span", {}, name),
      h("strong", { title: exact(value), "data-path": name }, time(value)),
      h("span", { class: "quiet" }, percent(value / whole)),
    ),
  );
  return h(
    "div",
    { class: "critical" },
    h("h3", {}, `Critical path, which ends on rank ${found.rank}`),
    bar(used, whole),
    h("ul", { class: "parts" }, ...items),
  );
}

function deadlock(stuck: any): HTMLElement {
  const pending: any[] = stuck.pending ?? [];
  const cycle: number[] = stuck.cycle ?? [];
  const shown = pending.slice(0, 20);
  const rows = shown.map((op) => [
    String(op.rank),
    op.kind,
    op.peer === -1 ? "any" : String(op.peer ?? "–"),
    op.tag === -1 ? "any" : String(op.tag ?? "–"),
    op.text ?? "",
    op.line ? String(op.line) : "",
  ]);
  const head = ["rank", "waits for", "peer", "tag", "statement", "line"];
  const more = pending.length > shown.length ? `, the first ${shown.length}` : "";
  return h(
    "div",
    {},
    h("p", { class: "alert", role: "note" }, `${count(stuck.ranks)} ranks can never finish.`),
    cycle.length > 0
      ? h("p", {}, `Each waits for the next: ranks ${[...cycle, cycle[0]].join(" → ")}.`)
      : null,
    table(`Operations that wait${more}`, head, rows, [2, 3, 5]),
  );
}

