// MPI calls: where programs spend their time.

import { h, s, section, table } from "./dom";
import { count, exact, percent, time } from "./format";
import type { Run } from "./model";

export function calls(run: Run): HTMLElement | null {
  const found: any[] = run.calls ?? [];
  if (found.length === 0) return null;
  const sorted = [...found].sort((one, other) => other.total_ps - one.total_ps);
  const whole = (run.horizon_ps ?? 1) * (run.ranks?.count ?? 1);
  const most = Math.max(1, sorted[0].total_ps);
  const rows = sorted.map((call) => {
    const bar = s("rect", { width: (call.total_ps / most) * 100, height: 10, class: "fill-send" });
    const view = { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "spark" };
    return [
      call.name,
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
  const head = ["call", "", "time", "of all ranks", "calls", "mean", "longest", "on rank", "at"];
  return section(
    "calls",
    "MPI calls",
    table("Time in MPI calls, over all ranks", head, rows, [2, 3, 4, 5, 6, 7, 8]),
  );
}
