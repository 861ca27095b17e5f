// What was set, with intervals and where they come from; and how to run it again.

import { h, section, table } from "./dom";
import type { Run } from "./model";

/** A setting as text. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(shown).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A command, quoted for a shell. */
function quoted(words: string[]): string {
  const plain = /^[\w@%+=:,./-]+$/;
  const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
  return words.map((word) => (plain.test(word) ? word : quote(word))).join(" ");
}

/** Commands that run it again: the manifest, and without the folder. */
export function again(run: Run): HTMLElement | null {
  if (!run.again) return null;
  const parameters: Record<string, unknown> = run.summary?.parameters ?? {};
  const source = parameters["workload.source"];
  const lines: [string, string][] = [["From the manifest", run.again]];
  if (typeof source === "string" && !source.includes("left out")) {
    const words = ["heddle", "run", source];
    for (const [key, value] of Object.entries(parameters)) {
      const skipped = key === "workload.source" || /^(output|calibration)\./.test(key);
      if (!skipped) words.push("--set", `${key}=${shown(value)}`);
    }
    lines.push(["Without the manifest, in its folder", quoted(words)]);
  }
  return section(
    "again",
    "Run it again",
    ...lines.map(([name, text]) => {
      const copy = h("button", { type: "button", "aria-label": `Copy: ${name}` }, "Copy");
      const code = h("code", {}, text);
      copy.addEventListener("click", () => {
        // The clipboard's interface is not for pages that were opened from disk.
        getSelection()?.selectAllChildren(code);
        copy.textContent = document.execCommand("copy") ? "Copied" : "Selected";
      });
      return h(
        "div",
        { class: "command" },
        h("h3", {}, name),
        h("pre", { tabindex: 0 }, code),
        copy,
      );
    }),
  );
}

export function parameters(run: Run): HTMLElement | null {
  const settings: Record<string, unknown> | undefined = run.manifest?.experiment;
  if (!settings) return null;
  const defaults = new Set<string>(run.manifest.defaults ?? []);
  const interval = (key: string) => {
    const [low, high] = ["low", "high"].map((end) => settings[`calibration.${key}.${end}`]);
    return low === undefined || high === undefined ? "" : `${shown(low)} to ${shown(high)}`;
  };
  const rows = (keys: string[]) =>
    keys.map((key) => [
      h("code", {}, key),
      shown(settings[key]),
      interval(key),
      defaults.has(key) ? "default" : interval(key) ? "measured" : "set",
    ]);
  const keys = Object.keys(settings).filter((key) => !key.startsWith("calibration."));
  const head = ["key", "value", "interval", "origin"];
  const set = keys.filter((key) => !defaults.has(key));
  const rest = keys.filter((key) => defaults.has(key));
  const calibration = Object.keys(settings).filter((key) => /^calibration\.[^.]+$/.test(key));
  const inputs: any[] = run.manifest.inputs ?? [];
  return section(
    "parameters",
    "Parameters",
    table("Settings", head, rows(set)),
    rest.length > 0
      ? h(
          "details",
          {},
          h("summary", {}, `${rest.length} defaults`),
          table("Settings that nobody set", head, rows(rest)),
        )
      : null,
    calibration.length > 0
      ? table(
          "Origin of measured parameters",
          ["", "value"],
          calibration.map((key) => [key.slice("calibration.".length), shown(settings[key])]),
        )
      : null,
    inputs.length > 0
      ? table(
          "Inputs",
          ["file", "SHA-256"],
          inputs.map((input) => [
            String(input.path),
            h("code", { class: "hash" }, String(input.sha256)),
          ]),
        )
      : null,
    h("p", { class: "about" }, `Written by Heddle ${shown(run.manifest.heddle)}.`),
  );
}
