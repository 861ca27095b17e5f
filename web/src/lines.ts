// Lines of a schedule's text: where programs spend their time.

import { h, s, section, table } from "./dom";
import { count, exact, percent, time } from "./format";
import type { Run } from "./model";

export function lines(run: Run): HTMLElement | null {
  const found: any[] = run.lines?.rows ?? [];
  if (found.length === 0) return null;
  const sum = (line: any) => line.compute_ps + line.send_ps + line.receive_ps;
  const most = Math.max(1, sum(found[0]));
  const rows = found.map((line) => {
    const parts: [number, string][] = [
      [line.compute_ps, "fill-compute"],
      [line.send_ps, "fill-send"],
      [line.receive_ps, "fill-receive"],
    ];
    let from = 0;
    const bars = parts.map(([part, style]) => {
      const width = (part / most) * 100;
      const bar = s("rect", { x: from, width, height: 10, class: style });
      from += width;
      return bar;
    });
    const view = { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "spark" };
    return [
      String(line.line),
      h("code", {}, line.text),
      s("svg", { ...view, "aria-hidden": "true" }, ...bars),
      h("span", { title: exact(sum(line)) }, time(sum(line))),
      time(line.compute_ps),
      time(line.send_ps),
      time(line.receive_ps),
      h("span", { title: exact(line.path_ps) }, time(line.path_ps)),
      percent(line.path_ps / (run.horizon_ps || 1)),
      count(line.operations),
    ];
  });
  const kinds = ["computation", "sending", "receiving"];
  const path = ["on the critical path", "of the run"];
  const head = ["line", "text", "", "busy", ...kinds, ...path, "operations"];
  const total = run.lines.total;
  const caption =
    total > found.length
      ? `The ${count(found.length)} lines that keep CPUs busy longest, of ${count(total)}`
      : "Time that lines keep CPUs busy";
  const numeric = [3, 4, 5, 6, 7, 8, 9];
  return section("lines", "Source lines", table(caption, head, rows, numeric));
}
