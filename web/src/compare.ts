// Several runs side by side.

import { versus } from "./curves";
import { h, legend, s, section, table } from "./dom";
import { exact, percent, time } from "./format";
import { groupName, type Run } from "./model";
import { bar, PARTS } from "./overview";
import type { Timeline } from "./timeline";

/** A difference in percent, with its sign. */
function change(value: number, base: number): string {
  if (!(base > 0)) return "–";
  const share = value / base - 1;
  return `${share > 0 ? "+" : ""}${percent(share)}`;
}

/** The runs of a kind that are compared: several, or none. */
export function compared(runs: Run[], kind: Run["kind"]): Run[] {
  const found = runs.filter((run) => run.kind === kind);
  return found.length > 1 ? found : [];
}

export function compare(runs: Run[], timelines: Timeline[]): HTMLElement {
  const [programs, traffic] = [compared(runs, "program"), compared(runs, "traffic")];
  return section(
    "compare",
    "Comparison",
    ...(programs.length > 0 ? ofPrograms(programs, timelines) : []),
    ...(traffic.length > 0 ? [versus(traffic), settings(traffic)] : []),
  );
}

function ofPrograms(programs: Run[], timelines: Timeline[]): (HTMLElement | null)[] {
  const [base] = programs;
  const most = Math.max(...programs.map((run) => run.summary?.makespan_ps ?? 0), 1);
  const bars = programs.map((run) => {
    const found = run.summary?.critical_path;
    const parts = PARTS.map(([key, name, style]): [string, string, number] => [
      name,
      style,
      found?.[`${key}_ps`] ?? 0,
    ]);
    const makespan = run.summary?.makespan_ps;
    const box = h("div", { class: "part" }, bar(parts, makespan ?? 1));
    box.style.width = `${((makespan ?? 0) / most) * 100}%`;
    const shown = h("strong", { title: exact(makespan), "data-compare": run.name }, time(makespan));
    const differs = run === base ? "" : ` ${change(makespan, base.summary?.makespan_ps)}`;
    const name = h("span", {}, run.name);
    return h("div", { class: "versus" }, name, box, h("span", {}, shown, differs));
  });
  return [
    legend(PARTS.map(([, name, style]) => [name, style])),
    h("div", { class: "bars" }, ...bars),
    figures(programs),
    settings(programs),
    calls(programs),
    finishes(programs),
    h("h3", {}, "Timelines on one scale of time"),
    h("p", { class: "about" }, "What moves one of them moves the others."),
    ...timelines.map((timeline) => timeline.element),
  ];
}

/** Figures of each run, with differences from the first. */
function figures(runs: Run[]): HTMLElement {
  const keys: [string, (run: Run) => number | null | undefined][] = [
    ["makespan", (run) => run.summary?.makespan_ps],
    ...PARTS.map(([key, name]): [string, (run: Run) => number | undefined] => [
      `critical path: ${name}`,
      (run) => run.summary?.critical_path?.[`${key}_ps`],
    ]),
  ];
  const rows = keys.map(([name, of]) => {
    const first = of(runs[0]) ?? 0;
    const cells = runs.map((run, place) => {
      const value = of(run);
      const differs = place > 0 && value != null ? `  ${change(value, first)}` : "";
      return h("span", { title: exact(value) }, time(value) + differs);
    });
    return [name, ...cells];
  });
  const numeric = runs.map((_, place) => place + 1);
  return table("Figures of all runs", ["", ...runs.map((run) => run.name)], rows, numeric);
}

/** The settings in which runs differ. */
function settings(runs: Run[]): HTMLElement | null {
  const all = runs.map((run) => run.manifest?.experiment ?? {});
  const keys = [...new Set(all.flatMap((found) => Object.keys(found)))];
  const text = (found: any, key: string) => (found[key] === undefined ? "–" : String(found[key]));
  const differing = keys.filter((key) => new Set(all.map((found) => text(found, key))).size > 1);
  if (differing.length === 0) return null;
  const rows = differing.map((key) => [
    h("code", {}, key),
    ...all.map((found) => text(found, key)),
  ]);
  return table("Settings in which they differ", ["key", ...runs.map((run) => run.name)], rows);
}

/** Time in calls of each run, by the greatest difference from the first. */
function calls(runs: Run[]): HTMLElement | null {
  const total = (call: any): [string, number] => [call.name, call.total_ps];
  const all = runs.map((run) => new Map<string, number>((run.calls ?? []).map(total)));
  const names = [...new Set(all.flatMap((found) => [...found.keys()]))];
  if (names.length === 0) return null;
  const gap = (name: string) =>
    Math.max(...all.map((found) => Math.abs((found.get(name) ?? 0) - (all[0].get(name) ?? 0))));
  names.sort((one, other) => gap(other) - gap(one));
  const rows = names.map((name) => [
    name,
    ...all.map((found, place) => {
      const value = found.get(name);
      const differs = place > 0 ? `  ${change(value ?? 0, all[0].get(name) ?? 0)}` : "";
      return time(value) + differs;
    }),
  ]);
  const numeric = runs.map((_, place) => place + 1);
  const head = ["call", ...runs.map((run) => run.name)];
  return table("Time in MPI calls, the greatest difference first", head, rows, numeric);
}

/** When ranks finish, against the first run. */
function finishes(runs: Run[]): HTMLElement | null {
  const [base, ...others] = runs;
  const same = others.filter((run) => run.ranks && run.ranks.count === base.ranks?.count);
  if (same.length === 0) return null;
  const groups: number = base.ranks.finish_ps.length;
  const [width, height] = [1000, 160];
  const first = base.ranks.finish_ps;
  const gap = (finish: number, group: number) => finish - first[group];
  const gaps = same.map((run) => run.ranks.finish_ps.map(gap));
  const most = Math.max(1, ...gaps.flat().map(Math.abs));
  const styles = ["compute", "send", "receive", "contention", "blocked", "network"];
  const step = width / groups;
  const bars = gaps.flatMap((gap: number[], place) =>
    gap.map((value, group) => {
      const size = Math.abs(value / most) * (height / 2 - 4);
      const box = {
        x: group * step + (place * step * 0.8) / same.length,
        y: value > 0 ? height / 2 - size : height / 2,
        width: (step * 0.8) / same.length,
        height: size,
        class: `fill-${styles[place % styles.length]}`,
      };
      const name = groupName(base.ranks.count, groups, group);
      const title = `${same[place].name}, ${name}: ${exact(value)}`;
      return s("rect", box, s("title", {}, title));
    }),
  );
  const line = { x1: 0, x2: width, y1: height / 2, y2: height / 2, class: "grid" };
  const label = "How much later or earlier ranks finish than in the first run";
  const view = { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img" };
  return h(
    "div",
    {},
    h("h3", {}, "When ranks finish"),
    h(
      "p",
      { class: "about" },
      `Against ${base.name}: above the line later, below it earlier, at most ${time(most)}.`,
    ),
    legend(same.map((run, place) => [run.name, styles[place % styles.length]])),
    s("svg", { ...view, "aria-label": label }, s("line", line), ...bars),
  );
}
