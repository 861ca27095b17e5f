// MPI calls: where programs spend their time.

import { h, s, section, table } from "./dom";
import { count, exact, percent, time } from "./format";
import type { Run } from "./model";

/** The names of the columns behind those that say which calls a row stands for. */
const HEAD = ["", "time", "of all ranks", "calls", "mean", "longest", "on rank", "at"];

export function calls(run: Run): HTMLElement | null {
  const found: any[] = run.calls ?? [];
  if (found.length === 0) return null;
  const sorted = [...found].sort((one, other) => other.total_ps - one.total_ps);
  const rows = rowsOf(run, sorted, (call) => [call.name]);
  return section(
    "calls",
    "MPI calls",
    table("Time in MPI calls, over all ranks", ["call", ...HEAD], rows, [2, 3, 4, 5, 6, 7, 8]),
  );
}

/** The calls of a live program by the places that it calls from. */
export function places(run: Run): HTMLElement | null {
  const found: any[] = run.places?.rows ?? [];
  if (found.length === 0) return null;
  const rows = rowsOf(run, found, (call) => [h("code", {}, call.place), call.name]);
  const { total } = run.places;
  const caption =
    total > found.length
      ? `The ${count(found.length)} lines with most time in MPI calls, of ${count(total)}`
      : "Time in MPI calls by source line, over all ranks";
  return section(
    "places",
    "Time by source line",
    table(caption, ["line", "call", ...HEAD], rows, [3, 4, 5, 6, 7, 8, 9]),
  );
}

/** Rows of sums over calls, that with most time first. */
function rowsOf(run: Run, sorted: any[], names: (call: any) => (string | Node)[]) {
  const whole = (run.horizon_ps ?? 1) * (run.ranks?.count ?? 1);
  const most = Math.max(1, sorted[0].total_ps);
  return sorted.map((call) => {
    const bar = s("rect", { width: (call.total_ps / most) * 100, height: 10, class: "fill-send" });
    const view = { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "spark" };
    return [
      ...names(call),
      s("svg", { ...view, "aria-hidden": "true" }, bar),
      h("span", { title: exact(call.total_ps) }, time(call.total_ps)),
      percent(call.total_ps / whole),
      count(call.calls),
      time(call.total_ps / Math.max(1, call.calls)),
      h("span", { title: exact(call.longest_ps) }, time(call.longest_ps)),
      `${call.longest_rank}`,
      time(call.longest_at_ps),
    ];
  });
}
