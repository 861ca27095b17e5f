// Links over time: as a heat map of all, and on the drawing of the topology at one time.

import { numbersOf } from "./columns";
import { choice, colour, h, s, section, sized, watch } from "./dom";
import { count, percent, time } from "./format";
import { heat } from "./messages";
import type { Run } from "./model";

/** What the maps show: a name, the unit of its column, and whether its greatest value is known. */
const MEASURES: [string, string, (value: number) => string][] = [
  ["used", "Utilisation", (value) => percent(value / 1000)],
  ["queue", "Longest queue", (value) => `${count(value)} flits`],
  ["stalled", "Without credit", (value) => time(value)],
  ["marked", "Marks", (value) => `${count(value)} packets`],
];

interface Rows {
  names: string[];
  intervals: number;
  width: number;
  columns: Record<string, Float64Array>;
}

export function network(run: Run): HTMLElement | null {
  const found = run.network ?? run.loads;
  if (!found) return null;
  const element = section("network", "Network");
  const ids = MEASURES.filter(([key]) => found[key] !== undefined);
  Promise.all(ids.map(([key]) => numbersOf(found[key]))).then((columns) => {
    const named = Object.fromEntries(ids.map(([key], place) => [key, columns[place]]));
    const names: string[] = found.links ?? portNames(found);
    const rows = { names, intervals: found.intervals, width: found.width_ps, columns: named };
    element.append(...maps(run, rows, found));
  });
  return element;
}

/** The names of output ports: the device, the port, and the device at the other end. */
function portNames(found: any): string[] {
  const names: string[] = found.devices.names;
  const peers = new Map<string, number>();
  for (const [first, firstPort, second, secondPort] of found.connections) {
    peers.set(`${first} ${firstPort}`, second);
    peers.set(`${second} ${secondPort}`, first);
  }
  return found.port_devices.map((device: number, place: number) => {
    const port = found.port_numbers[place];
    const peer = peers.get(`${device} ${port}`);
    const to = peer === undefined ? "" : ` → ${names[peer]}`;
    return `${names[device]}, port ${port}${to}`;
  });
}

function maps(run: Run, rows: Rows, found: any): HTMLElement[] {
  let measure = "used";
  let at = busiestInterval(rows);
  const canvas = h("canvas", {
    class: "heat",
    tabindex: 0,
    role: "application",
    "aria-label": "Heat map of links over time; arrows move through it",
    "aria-describedby": "heat-cell",
  });
  canvas.style.height = `${Math.min(420, Math.max(90, rows.names.length * 8))}px`;
  const cell = h("div", { id: "heat-cell", class: "panel small", "aria-live": "polite" });
  const most = () => {
    const greatest = rows.columns[measure].reduce((one, other) => Math.max(one, other), 1);
    return measure === "used" ? 1000 : greatest;
  };
  const say = (row: number, column: number) => {
    const [, name, text] = MEASURES.find(([key]) => key === measure)!;
    const value = rows.columns[measure][row * rows.intervals + column];
    const from = time(column * rows.width);
    cell.textContent = `${rows.names[row]}, from ${from}: ${name.toLowerCase()} ${text(value)}`;
  };
  const draw = () => {
    const [context, width, height] = sized(canvas);
    if (width === 0) return;
    const values = rows.columns[measure];
    const image = new ImageData(rows.intervals, rows.names.length);
    const greatest = most();
    values.forEach((value, place) => image.data.set([...heat(value / greatest), 255], place * 4));
    const other = new OffscreenCanvas(rows.intervals, rows.names.length);
    other.getContext("2d")!.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(other, 0, 0, width, height);
    context.strokeStyle = colour("ink");
    const step = width / rows.intervals;
    context.strokeRect(at * step + 0.5, 0.5, Math.max(1, step - 1), height - 1);
  };
  const drawing = run.network ? topology(found) : undefined;
  const slider = h("input", {
    type: "range",
    min: 0,
    max: rows.intervals - 1,
    value: 0,
    id: "network-time",
  });
  const shown = h("output", { for: "network-time" });
  const go = (interval: number) => {
    at = Math.max(0, Math.min(rows.intervals - 1, interval));
    slider.value = String(at);
    const [from, to] = [at, at + 1].map((edge) => time(edge * rows.width));
    shown.textContent = `${from} to ${to}`;
    drawing?.colour(rows, measure, at, most());
    draw();
  };
  slider.addEventListener("input", () => go(Number(slider.value)));
  let row = 0;
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const place = (offset: number, size: number, most: number) =>
      Math.max(0, Math.min(most - 1, Math.floor((offset / size) * most)));
    row = place(event.clientY - box.top, box.height, rows.names.length);
    say(row, place(event.clientX - box.left, box.width, rows.intervals));
  });
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    go(Math.floor(((event.clientX - box.left) / box.width) * rows.intervals));
  });
  canvas.addEventListener("keydown", (event) => {
    const keys: Record<string, [number, number]> = {
      ...{ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] },
    };
    const step = keys[event.key];
    if (!step) return;
    event.preventDefault();
    row = Math.max(0, Math.min(rows.names.length - 1, row + step[0]));
    go(at + step[1]);
    say(row, at);
  });
  watch(canvas, () => go(at));
  const options = MEASURES.filter(([key]) => rows.columns[key]);
  const names = options.map(([key, name]): [string, string] => [key, name]);
  const change = (value: string) => {
    measure = value;
    go(at);
  };
  const busiest = peak(rows);
  return [
    h(
      "div",
      { class: "controls" },
      choice("What is shown", names, measure, change),
      h("label", { for: "network-time" }, "Time "),
      slider,
      shown,
    ),
    ...(drawing ? [drawing.element] : []),
    h("p", { class: "about" }, "A row for each output that carried something, over time."),
    canvas,
    scaleOfHeat(),
    cell,
    h("p", { class: "about", "data-busiest": "" }, busiest),
  ];
}

/** The interval in which all outputs together carried most. */
function busiestInterval(rows: Rows): number {
  const sums = new Float64Array(rows.intervals);
  rows.columns.used.forEach((value, place) => (sums[place % rows.intervals] += value));
  return sums.reduce((best, sum, place) => (sum > sums[best] ? place : best), 0);
}

/** The meaning of the colours of heat. */
function scaleOfHeat(): HTMLElement {
  return h(
    "div",
    { class: "heat-scale" },
    "none",
    h("span", { class: "gradient", "aria-hidden": "true" }),
    "all, or the most",
  );
}

/** The output that carried most, over the whole time. */
function peak(rows: Rows): string {
  let [best, most] = [0, -1];
  rows.names.forEach((_, row) => {
    const part = rows.columns.used.subarray(row * rows.intervals, (row + 1) * rows.intervals);
    const sum = part.reduce((one, other) => one + other, 0);
    if (sum > most) [best, most] = [row, sum];
  });
  const mean = most / rows.intervals / 1000;
  return `Busiest: ${rows.names[best]}, ${percent(mean)} of the time on average.`;
}

/** A line, with a bend if it runs along an axis past the devices between its ends. */
function curve(x1: number, y1: number, x2: number, y2: number, shortest: number): string {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const passes = (dx === 0 || dy === 0) && Math.hypot(dx, dy) > 1.5 * shortest;
  const bend = passes ? 0.22 : 0;
  const [cx, cy] = [(x1 + x2) / 2 + Math.abs(dy) * bend, (y1 + y2) / 2 - Math.abs(dx) * bend];
  return `M${x1} ${y1}Q${cx} ${cy} ${x2} ${y2}`;
}

/** The drawing of a topology whose links can be coloured. */
function topology(found: any) {
  const { x, y, names, hosts } = found.devices;
  const placed = (device: number) => x[device] != null && y[device] != null;
  const lines: { element: SVGElement; ends: [string, string]; title: Element; name: string }[] = [];
  const links = s("g", {});
  const lengths = found.connections
    .filter(([first, , second]: number[]) => placed(first) && placed(second))
    .filter(([first, , second]: number[]) => first >= hosts && second >= hosts)
    .map(([first, , second]: number[]) => Math.hypot(x[first] - x[second], y[first] - y[second]));
  const shortest = lengths.reduce((one: number, other: number) => Math.min(one, other), Infinity);
  for (const [first, firstPort, second, secondPort, up] of found.connections) {
    if (!placed(first) || !placed(second)) continue;
    const title = s("title");
    const line = curve(x[first], y[first], x[second], y[second], shortest);
    const element = s("path", { d: line, class: up ? "cable" : "cable broken" }, title);
    links.append(element);
    lines.push({
      element,
      ends: [`${first} ${firstPort}`, `${second} ${secondPort}`],
      title,
      name: `${names[first]} – ${names[second]}`,
    });
  }
  if (lines.length === 0) return undefined;
  const nodes = s("g", {});
  names.forEach((name: string, device: number) => {
    if (!placed(device)) return;
    const title = s("title", {}, name);
    const at = { cx: x[device], cy: y[device] };
    const box = { x: x[device] - 9, y: y[device] - 6, width: 18, height: 12, rx: 2 };
    nodes.append(
      device < hosts
        ? s("circle", { ...at, r: 3, class: "host" }, title)
        : s("rect", { ...box, class: "switch" }, title),
    );
  });
  const far = (places: (number | null)[]) => Math.max(...places.map((place) => place ?? 0)) + 40;
  const [width, height] = [far(x), far(y)];
  const rowOf = new Map<string, number>();
  found.port_devices.forEach((device: number, row: number) => {
    rowOf.set(`${device} ${found.port_numbers[row]}`, row);
  });
  const view = { viewBox: `0 0 ${width} ${height}`, class: "topology", role: "img" };
  const label = `Topology with ${lines.length} links, coloured by their busier direction`;
  return {
    element: h("div", {}, s("svg", { ...view, "aria-label": label }, links, nodes)),
    colour(rows: Rows, measure: string, at: number, most: number) {
      const [, , text] = MEASURES.find(([key]) => key === measure)!;
      for (const { element, ends, title, name } of lines) {
        const value = Math.max(
          ...ends.map((end) => {
            const row = rowOf.get(end);
            return row === undefined ? 0 : rows.columns[measure][row * rows.intervals + at];
          }),
        );
        const [red, green, blue] = heat(value / most).map(Math.round);
        element.style.stroke = `rgb(${red} ${green} ${blue})`;
        element.style.strokeWidth = String(1 + 3 * Math.sqrt(value / most));
        title.textContent = `${name}: ${text(value)}`;
      }
    },
  };
}
