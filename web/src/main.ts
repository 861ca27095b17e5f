// The page: reads the document, and shows what each run has.

import { calls, places } from "./calls";
import { compare, compared } from "./compare";
import { curves } from "./curves";
import { h, redrawAll } from "./dom";
import { ladder } from "./ladder";
import { lines } from "./lines";
import { messages } from "./messages";
import { type Document, eventsOf, type Path, pathOf, type Run } from "./model";
import { network } from "./network";
import { overview } from "./overview";
import { again, parameters } from "./parameters";
import { pathSection } from "./path";
import { ranks } from "./ranks";
import { study } from "./study";
import "./style.css";
import { levelsOf } from "./tiles";
import { Timeline } from "./timeline";

const THEMES = ["auto", "light", "dark"];

/** Decodes the events of a run for its timelines and the list of its critical path. */
async function load(run: Run, timelines: Timeline[], show?: (path: Path) => void) {
  const [levels, path, events] = await Promise.all([levelsOf(run), pathOf(run), eventsOf(run)]);
  for (const timeline of timelines) timeline.load({ levels, path, ...events });
  if (path) show?.(path);
  document.body.dataset.loaded = "true";
}

/** The sections of a run. */
function sections(run: Run): (HTMLElement | null)[] {
  if (run.kind === "study") return [study(run)];
  if (run.kind === "ladder") return ladder(run);
  if (run.kind === "traffic") return [curves(run), network(run), parameters(run), again(run)];
  const shown = [overview(run), ranks(run)];
  if (run.activity || run.messages) {
    const timeline = new Timeline(run);
    shown.push(timeline.element);
    let show: ((path: Path) => void) | undefined;
    if (run.path) {
      const [element, showPath] = pathSection(run, timeline);
      shown.push(element);
      show = showPath;
    }
    setTimeout(() => load(run, [timeline], show));
  }
  const rest = [network(run), parameters(run), again(run)];
  return [...shown, messages(run), calls(run), places(run), lines(run), ...rest];
}

/** Timelines of several runs on one scale, which move together. */
function linked(runs: Run[]): Timeline[] {
  const programs = runs.filter((run) => run.kind === "program" && (run.activity || run.messages));
  const horizon = Math.max(...programs.map((run) => run.horizon_ps ?? 0));
  const timelines = programs.map((run) => new Timeline(run, { horizon, title: run.name }));
  timelines.forEach((timeline, place) => {
    timeline.onView = (view) => {
      for (const other of timelines) if (other !== timeline) other.follow(view);
    };
    setTimeout(() => load(programs[place], [timeline]));
  });
  return timelines;
}

function navigation(content: HTMLElement): HTMLElement {
  const links = [...content.querySelectorAll(":scope > section")].map((found) => {
    const title = found.querySelector("h2")?.textContent ?? "";
    return h("li", {}, h("a", { href: `#${found.id}` }, title));
  });
  return h("nav", { "aria-label": "Sections" }, h("ul", {}, ...links));
}

/** Chooses between the colours of the system, light and dark ones. */
function themes(): HTMLElement {
  const button = h("button", { type: "button", class: "theme" }, "Colours: auto");
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "auto") + 1) % THEMES.length];
    root.dataset.theme = next;
    button.textContent = `Colours: ${next}`;
    redrawAll();
  });
  return button;
}

function licences(): HTMLElement {
  const shown = h("pre", { tabindex: 0 });
  const read = () => {
    shown.textContent = JSON.parse(document.getElementById("licences")?.textContent ?? '""');
  };
  const title = h("summary", {}, "Licences of the libraries in this page");
  return h("details", { toggle: read }, title, shown);
}

function start() {
  const found = document.getElementById("document")?.textContent ?? "{}";
  const { heddle, runs }: Document = JSON.parse(found);
  const content = h("main", {});
  const top = h("div", { class: "top" });
  const show = (place: number) => {
    if (place < 0) {
      content.replaceChildren(compare(runs, linked(runs)));
    } else {
      content.replaceChildren(...sections(runs[place]).filter((shown) => shown !== null));
    }
    top.replaceChildren(navigation(content));
  };
  const kinds = ["program", "traffic"] as const;
  const isCompared = kinds.some((kind) => compared(runs, kind).length > 0);
  const names: [string, number][] = runs.map((run, place) => [run.name, place]);
  if (isCompared) names.unshift(["Comparison", -1]);
  const first = names[0][1];
  const tabs = names.map(([name, place]) => {
    const tab = h("button", { type: "button", "aria-pressed": String(place === first) }, name);
    tab.addEventListener("click", () => {
      for (const other of tabs) other.setAttribute("aria-pressed", String(other === tab));
      show(place);
    });
    return tab;
  });
  const title = runs.length === 1 ? runs[0].name : `${runs.length} runs`;
  document.getElementById("app")!.append(
    h(
      "header",
      {},
      h("div", { class: "brand" }, h("span", {}, "Heddle"), themes()),
      h("h1", {}, title),
      runs.length > 1
        ? h("div", { class: "choice tabs", role: "group", "aria-label": "Runs" }, ...tabs)
        : null,
      top,
    ),
    content,
    h("footer", {}, h("p", {}, `Heddle ${heddle}. This page makes no request.`), licences()),
  );
  show(first);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  matchMedia("print").addEventListener("change", redrawAll);
}

start();
