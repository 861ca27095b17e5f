// The critical path, step by step.

import { h, section, table } from "./dom";
import { count, exact, time } from "./format";
import { COLOURS, KINDS, type Path, type Run } from "./model";
import type { Timeline } from "./timeline";

/** Rows of the list of steps that are shown at a time. */
const SHOWN = 50;

export function pathSection(run: Run, timeline: Timeline): [HTMLElement, (path: Path) => void] {
  const position = h("output", { class: "position", "aria-live": "polite" });
  const list = h("div");
  let path: Path | undefined;
  let at = 0;
  const go = (step: number) => {
    if (!path || path.kind.length === 0) return;
    at = Math.max(0, Math.min(path.kind.length - 1, step));
    timeline.showStep(at);
    position.textContent = timeline.stepText(at);
    show();
  };
  const crossing = (from: number, by: number) => {
    let step = from + by;
    while (path && step >= 0 && step < path.kind.length && path.kind[step] !== 3) step += by;
    return step;
  };
  const button = (text: string, act: () => void) =>
    h("button", { type: "button", click: act }, text);
  const show = () => {
    if (!path) return;
    const first = Math.floor(at / SHOWN) * SHOWN;
    const last = Math.min(path.kind.length, first + SHOWN);
    const rows = [];
    for (let step = first; step < last; step++) rows.push(row(path, step, go));
    const head = ["step", "what", "rank", "from", "for", "message", "call", "line"];
    const caption = `Steps ${first + 1} to ${last} of ${count(path.kind.length)}`;
    list.replaceChildren(table(caption, head, rows, [2, 3, 4, 5]));
    list.querySelectorAll("tbody tr")[at - first]?.setAttribute("aria-current", "step");
  };
  const element = section(
    "path",
    "Along the critical path",
    h(
      "p",
      { class: "about" },
      "The chain of causes that ends with the run, from its start; the timeline follows.",
    ),
    h(
      "div",
      { class: "controls" },
      button("Start", () => go(0)),
      button("Previous message", () => go(crossing(at, -1))),
      button("Previous", () => go(at - 1)),
      button("Next", () => go(at + 1)),
      button("Next message", () => go(crossing(at, 1))),
      button("End", () => go(Number.MAX_SAFE_INTEGER)),
    ),
    position,
    sums(run),
    list,
  );
  return [
    element,
    (found) => {
      path = found;
      const sum = element.querySelector("[data-sum]");
      if (sum) sum.textContent = total(found);
      show();
    },
  ];
}

function sums(run: Run): HTMLElement {
  return h("p", { class: "about", "data-sum": run.name });
}

/** The time of all steps of each kind. */
function total(path: Path): string {
  const sums = KINDS.map(() => 0);
  for (let step = 0; step < path.kind.length; step++) {
    sums[path.kind[step]] += path.end[step] - path.start[step];
  }
  const parts = KINDS.map((name, kind): [string, number] => [name, sums[kind]]);
  const used = parts.filter(([, sum]) => sum > 0);
  return `In all: ${used.map(([name, sum]) => `${name} ${time(sum)}`).join(", ")}.`;
}

/** The line that a step comes from, with its text where that is known, or the place in a live
 * program that called MPI. */
function lineOf(path: Path, step: number): string | Node {
  const line = path.line[step];
  if (!line) {
    const place = path.place[step];
    return place ? h("code", {}, place) : "";
  }
  const text = path.text.get(line);
  return text ? h("span", { class: "line" }, `${line}: `, h("code", {}, text)) : String(line);
}

function row(path: Path, step: number, go: (step: number) => void): (string | Node)[] {
  const kind = path.kind[step];
  const length = path.end[step] - path.start[step];
  const number = h("button", { type: "button", class: "link" }, String(step + 1));
  number.addEventListener("click", () => go(step));
  return [
    number,
    h(
      "span",
      {},
      h("span", { class: `swatch ${COLOURS[kind]}`, "aria-hidden": "true" }),
      KINDS[kind],
    ),
    String(path.rank[step]),
    exact(path.start[step]),
    exact(length),
    path.message[step] >= 0 ? String(path.message[step]) : "",
    path.call[step] ?? "",
    lineOf(path, step),
  ];
}
