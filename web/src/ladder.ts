// A workload at every fidelity, side by side.

import { h, s, section, table } from "./dom";
import { count, exact, percent, time } from "./format";
import type { Run } from "./model";

export function ladder(run: Run): HTMLElement[] {
  return (run.ladders ?? []).map((found, number) => rungs(found, number));
}

function rungs(found: any, number: number): HTMLElement {
  const all: any[] = found.rungs;
  const compared = all.filter((rung) => rung.makespan_ps != null);
  const finest = compared[compared.length - 1];
  const most = Math.max(1, ...compared.map((rung) => rung.makespan_ps));
  const difference = (rung: any) => {
    if (rung.makespan_ps == null || !finest || rung === finest) return "–";
    const share = rung.makespan_ps / finest.makespan_ps - 1;
    return `${share > 0 ? "+" : ""}${percent(share)}`;
  };
  const rows = all.map((rung) => {
    const width = ((rung.makespan_ps ?? 0) / most) * 100;
    const bar = s("rect", { width, height: 10, class: "fill-compute" });
    const view = { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "spark wide" };
    const makespan = rung.makespan_ps == null ? "deadlock" : time(rung.makespan_ps);
    return [
      String(rung.model),
      s("svg", { ...view, "aria-hidden": "true" }, bar),
      h("span", { title: exact(rung.makespan_ps), "data-rung": String(rung.model) }, makespan),
      difference(rung),
      percent(rung.communication),
      count(rung.events),
    ];
  });
  const missing: any[] = found.missing ?? [];
  const head = ["model", "", "makespan", "to the finest", "communication", "events"];
  const calls = [...new Set(all.flatMap((rung) => rung.calls.map((call: any) => call.call)))];
  const spent = (rung: any, name: string) =>
    rung.calls.find((call: any) => call.call === name)?.time_ps;
  const callRows = calls.map((name) => [
    String(name),
    ...all.map((rung) => time(spent(rung, name as string))),
  ]);
  const models = all.map((rung) => String(rung.model));
  return section(
    `ladder-${number}`,
    found.over ? `Ladder: ${found.over}` : "Ladder",
    table("Makespan by model, from the coarsest to the finest", head, rows, [2, 3, 4, 5]),
    missing.length > 0
      ? h(
          "ul",
          { class: "remarks" },
          ...missing.map((rung) => h("li", {}, `${rung.model} was not run: ${rung.missing}`)),
        )
      : null,
    calls.length > 0
      ? table(
          "Time in calls, over all ranks",
          ["call", ...models],
          callRows,
          models.map((_, place) => place + 1),
        )
      : null,
  );
}
