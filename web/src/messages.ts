// Messages by size, and between pairs of ranks.

import { scaleLog } from "d3-scale";
import { numbersOf } from "./columns";
import { choice, colour, h, rgb, s, section, sized, table, watch } from "./dom";
import { bytes, count, exact, time } from "./format";
import { groupName, type Run } from "./model";

export function messages(run: Run): HTMLElement | null {
  const found = run.messages;
  if (!found || !(found.total > 0)) return null;
  return section(
    "messages",
    "Messages",
    h("div", { class: "columns" }, histogram(found.sizes), matrix(run)),
  );
}

function histogram(sizes: any[]): HTMLElement {
  const [width, row, left] = [460, 20, 92];
  const most = Math.max(...sizes.map((bin) => bin.messages));
  const x = scaleLog([0.5, most], [0, width - left - 76]);
  const bars = sizes.flatMap((bin, place) => {
    const y = place * row;
    const label = bin.least === 0 ? "empty" : `≥ ${bytes(bin.least)}`;
    const transit = `mean ${exact(bin.mean_transit_ps)}, longest ${exact(bin.longest_transit_ps)}`;
    const sent = `${count(bin.messages)} messages, ${bytes(bin.bytes)}`;
    const title = `${sent}\nin the network: ${transit}`;
    const length = Math.max(1, x(bin.messages));
    return [
      s("text", { x: left - 8, y: y + 14, class: "axis end" }, label),
      s(
        "rect",
        { x: left, y: y + 2, width: length, height: row - 5, class: "fill-network" },
        s("title", {}, title),
      ),
      s("text", { x: left + length + 6, y: y + 14, class: "axis" }, count(bin.messages)),
    ];
  });
  const viewBox = `0 0 ${width} ${sizes.length * row}`;
  const view = { viewBox, class: "chart narrow", role: "img" };
  const label = "Number of messages by size; the table has the figures";
  const rows = sizes.map((bin) => [
    bin.least === 0 ? "0 B" : bytes(bin.least),
    count(bin.messages),
    bytes(bin.bytes),
    time(bin.mean_transit_ps),
    time(bin.longest_transit_ps),
  ]);
  const head = ["from", "messages", "bytes", "mean time in the network", "longest"];
  return h(
    "div",
    {},
    h("h3", {}, "By size"),
    h("p", { class: "about" }, "Sizes by powers of two; the scale of counts is logarithmic."),
    s("svg", { ...view, "aria-label": label }, ...bars),
    h(
      "details",
      {},
      h("summary", {}, "The same as a table, with times"),
      table("Messages by size", head, rows, [1, 2, 3, 4]),
    ),
  );
}

/** A colour between that of nothing and that of the most. */
export function heat(share: number): [number, number, number] {
  const [low, high] = [rgb(colour("idle")), rgb(colour("hot"))];
  const middle = rgb(colour("warm"));
  const [from, to, part] = share < 0.5 ? [low, middle, share * 2] : [middle, high, share * 2 - 1];
  const mix = (channel: 0 | 1 | 2) => from[channel] + (to[channel] - from[channel]) * part;
  return [mix(0), mix(1), mix(2)];
}

function matrix(run: Run): HTMLElement {
  const { groups, bytes: byteColumn, messages: messageColumn } = run.messages.matrix;
  const ranks = run.ranks.count;
  const canvas = h("canvas", {
    class: "matrix",
    tabindex: 0,
    role: "application",
    "aria-label": "Communication matrix; arrows move through its cells",
    "aria-describedby": "matrix-cell",
  });
  const cell = h("div", { id: "matrix-cell", class: "panel small", "aria-live": "polite" });
  let columns: Record<string, Float64Array> = {};
  let shown = "bytes";
  let at = [0, 0];
  const draw = () => {
    const [context, width, height] = sized(canvas);
    const values = columns[shown];
    if (!values || width === 0) return;
    const most = values.reduce((one, other) => Math.max(one, other), 0);
    const image = new ImageData(groups, groups);
    values.forEach((value, place) => {
      const share = value > 0 ? 0.15 + 0.85 * (Math.log1p(value) / Math.log1p(most)) : 0;
      image.data.set([...heat(share), 255], place * 4);
    });
    const other = new OffscreenCanvas(groups, groups);
    other.getContext("2d")!.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(other, 0, 0, width, height);
    context.strokeStyle = colour("ink");
    const size = width / groups;
    context.strokeRect(at[1] * size, at[0] * size, Math.max(size, 3), Math.max(size, 3));
  };
  const say = (row: number, column: number) => {
    at = [row, column].map((place) => Math.max(0, Math.min(groups - 1, place)));
    const place = at[0] * groups + at[1];
    const [from, to] = at.map((group) => groupName(ranks, groups, group));
    cell.textContent =
      `${from} to ${to}: ${count(columns.messages?.[place] ?? 0)} messages, ` +
      `${bytes(columns.bytes?.[place] ?? 0)}`;
    draw();
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const place = (offset: number, size: number) => Math.floor((offset / size) * groups);
    say(place(event.clientY - box.top, box.height), place(event.clientX - box.left, box.width));
  });
  canvas.addEventListener("keydown", (event) => {
    const steps: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    say(at[0] + step[0], at[1] + step[1]);
  });
  watch(canvas, draw);
  Promise.all([numbersOf(byteColumn), numbersOf(messageColumn)]).then(([sizes, counts]) => {
    columns = { bytes: sizes, messages: counts };
    say(0, Math.min(1, groups - 1));
  });
  const grouped = groups < ranks ? `, in ${groups} groups of neighbours` : "";
  return h(
    "div",
    {},
    h("h3", {}, "Between ranks"),
    h(
      "p",
      { class: "about" },
      `Senders from top to bottom, receivers from left to right${grouped}; logarithmic.`,
    ),
    choice(
      "What the matrix shows",
      [
        ["bytes", "Bytes"],
        ["messages", "Messages"],
      ],
      shown,
      (value) => {
        shown = value;
        draw();
      },
    ),
    canvas,
    cell,
  );
}
