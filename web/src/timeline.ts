// The timeline: ranks from top to bottom, time from left to right; from the whole run to a message.

import { scaleLinear } from "d3-scale";
import { search } from "./columns";
import { colour, h, legend, onColours, section, sized } from "./dom";
import { argument, count, time, timeUnit } from "./format";
import { COLOURS, type Run } from "./model";
import { type Events, messageText, sliceText, stepText } from "./events";
import { drawTiles, forget } from "./tiles";
import { kept, moved, stretched, type View, zoomed } from "./view";

/** More busy periods than this are drawn as tiles, more messages not at all. */
const MANY_SLICES = 10_000;
const MANY_MESSAGES = 1_200;
const AXIS = 24;
const LABELS = 62;

/** Number of timelines in the page, whose elements have names of their own. */
let timelines = 0;

export class Timeline {
  private readonly id = `timeline${timelines++ || ""}`;
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly panel: HTMLElement;
  private readonly note: HTMLElement;
  private readonly extent: { horizon: number; ranks: number };
  private events: Events = { levels: [] };
  private view: View;
  private rankLanes = new Map<number, number[]>();
  private placeOf = new Map<number, number>();
  private byInjection: Float64Array = new Float64Array(0);
  private chosen = -1;
  private step = -1;
  private showPath = true;
  private showMessages = true;
  private waiting = false;
  private drag?: { x: number; y: number; view: View };
  /** Messages that the last frame drew. */
  private drawn: number[] = [];

  /** Is told when the user moves what is shown. */
  onView?: (view: View) => void;

  constructor(
    private readonly run: Run,
    private readonly options: { horizon?: number; title?: string } = {},
  ) {
    const ranks = run.ranks?.count ?? 1;
    this.extent = { horizon: Math.max(1, options.horizon ?? run.horizon_ps ?? 1), ranks };
    this.view = { from: 0, to: this.extent.horizon, first: 0, last: ranks };
    this.canvas = h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label": "Timeline of ranks",
      "aria-describedby": `${this.id}-keys ${this.id}-panel`,
    });
    this.canvas.style.height = `${Math.min(560, Math.max(160, ranks * 26 + AXIS + 8))}px`;
    this.panel = h("div", { id: `${this.id}-panel`, class: "panel", "aria-live": "polite" });
    this.note = h("p", { class: "about", id: `${this.id}-note` });
    this.element = this.frame();
    this.listen();
    onColours(() => {
      forget(this.events.levels);
      this.redraw();
    });
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
    this.say("Loading events …");
  }

  private frame(): HTMLElement {
    const controls = h("div", { class: "controls" });
    const add = (text: string, label: string, act: () => void) => {
      const attributes = { type: "button", "aria-label": label, title: label, click: act };
      controls.append(h("button", attributes, text));
    };
    add("Whole run", "Whole run", () => this.whole());
    add("+", "Zoom in", () => this.zoom(0.5));
    add("−", "Zoom out", () => this.zoom(2));
    add("‹", "Earlier", () => this.go(moved(this.view, -0.3, 0)));
    add("›", "Later", () => this.go(moved(this.view, 0.3, 0)));
    add("Fewer ranks", "Show fewer ranks", () => this.stretch(0.5));
    add("More ranks", "Show more ranks", () => this.stretch(2));
    const toggle = (text: string, change: (on: boolean) => void) => {
      const box = h("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        change(box.checked);
        this.redraw();
      });
      controls.append(h("label", {}, box, ` ${text}`));
    };
    toggle("messages", (on) => (this.showMessages = on));
    toggle("critical path", (on) => (this.showPath = on));
    const input = h("input", { type: "number", min: 0, id: `${this.id}-message` });
    const form = h("form", { class: "find" }, h("label", { for: `${this.id}-message` }, "Message"));
    form.append(input, h("button", { type: "submit" }, "Show"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.showMessage(Number(input.value));
    });
    controls.append(form);
    const title = this.options.title;
    return section(
      this.id,
      title ? `Timeline of ${title}` : "Timeline",
      legend([
        ["computation", "compute"],
        ["sending", "send"],
        ["receiving", "receive"],
        ["message", "message"],
        ["critical path", "path"],
      ]),
      controls,
      this.canvas,
      h(
        "p",
        { class: "about", id: `${this.id}-keys` },
        "Wheel or + and − zoom, dragging or arrows move, with Shift they zoom ranks; a double " +
          "click zooms in; N and P go to the next and previous message, Home to the whole run.",
      ),
      this.note,
      this.panel,
    );
  }

  /** Takes the events, and draws them. */
  load(events: Events) {
    this.events = events;
    events.slices?.lanes.forEach((lane, number) => {
      const lanes = this.rankLanes.get(lane.rank) ?? [];
      lanes.push(number);
      this.rankLanes.set(lane.rank, lanes);
    });
    const { messages } = events;
    if (messages) {
      messages.id.forEach((id, place) => this.placeOf.set(id, place));
      this.byInjection = messages.injected;
    }
    this.say("Point at an event, or choose a message, to see its times.");
    this.redraw();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  private go(view: View) {
    this.follow(view);
    this.onView?.(this.view);
  }

  /** Shows what another timeline shows. */
  follow(view: View) {
    this.view = kept(view, this.extent.horizon, this.extent.ranks);
    this.redraw();
  }

  whole() {
    this.go({ from: 0, to: this.extent.horizon, first: 0, last: this.extent.ranks });
  }

  private zoom(factor: number, around = (this.view.from + this.view.to) / 2) {
    this.go(zoomed(this.view, factor, around));
  }

  private stretch(factor: number, around = (this.view.first + this.view.last) / 2) {
    this.go(stretched(this.view, factor, around));
  }

  /** Zooms to a message, and says its times. */
  showMessage(id: number) {
    const place = this.placeOf.get(id);
    const { messages } = this.events;
    if (place === undefined || !messages) {
      this.say(`Message ${id} is not in this page.${this.command()}`);
      return;
    }
    this.chosen = place;
    this.step = -1;
    const from = Math.min(messages.posted[place], messages.injected[place]);
    const to = Math.max(messages.matched[place], messages.delivered[place]);
    const ends = [messages.source[place], messages.destination[place]];
    this.show(from, to, Math.min(...ends), Math.max(...ends));
    this.say(messageText(this.events, place));
  }

  /** Zooms to a step of the critical path. */
  showStep(step: number) {
    const { path, messages } = this.events;
    if (!path) return;
    this.step = step;
    const place = this.placeOf.get(path.message[step]);
    this.chosen = path.kind[step] === 3 && place !== undefined ? place : -1;
    const ranks = [path.rank[step]];
    if (this.chosen >= 0 && messages) ranks.push(messages.source[this.chosen]);
    this.show(path.start[step], path.end[step], Math.min(...ranks), Math.max(...ranks));
    this.say(this.stepText(step));
  }

  /** Shows a stretch of time with some room, and ranks, and some beside them. */
  private show(from: number, to: number, first: number, last: number) {
    const room = Math.max((to - from) * 0.6, 50);
    const shown = this.view.last - this.view.first;
    const rows = Math.min(this.extent.ranks, Math.max(last - first + 5, Math.min(shown, 32)));
    const middle = (first + last + 1) / 2;
    this.go({
      from: from - room,
      to: to + room,
      first: Math.floor(middle - rows / 2),
      last: Math.floor(middle - rows / 2) + rows,
    });
  }

  /** The command that makes a page with every event of what is shown. */
  private command(): string {
    const detail = this.run.detail;
    if (!detail || detail.all || !this.run.command) return "";
    const window = `${argument(this.view.from)}..${argument(this.view.to)}`;
    return ` Every event of what is shown: ${this.run.command} --report-window ${window}`;
  }

  private say(text: string) {
    this.panel.textContent = text;
  }

  stepText(step: number): string {
    return stepText(this.events, this.placeOf, step);
  }

  // Drawing.

  private box(): { left: number; top: number; width: number; height: number } {
    const { clientWidth, clientHeight } = this.canvas;
    return { left: LABELS, top: AXIS, width: clientWidth - LABELS, height: clientHeight - AXIS };
  }

  private x(at: number): number {
    const { left, width } = this.box();
    return left + ((at - this.view.from) / (this.view.to - this.view.from)) * width;
  }

  private y(rank: number): number {
    const { top, height } = this.box();
    return top + ((rank - this.view.first) / (this.view.last - this.view.first)) * height;
  }

  private draw() {
    const [context, width, height] = sized(this.canvas);
    if (width <= LABELS || height <= AXIS) return;
    const box = this.box();
    context.fillStyle = colour("idle");
    context.fillRect(box.left, box.top, box.width, box.height);
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    const all = this.run.detail?.all ?? false;
    const few = this.isFew();
    if (this.events.levels.length > 0 && !(all && few)) {
      drawTiles(context, this.events.levels, this.view, this.extent, box);
    }
    if (few) this.drawSlices(context);
    this.drawMessages(context);
    if (this.showPath) this.drawPath(context);
    context.restore();
    this.drawAxes(context, width, height);
    const fine = all || !this.run.detail || this.isCovered();
    this.note.textContent = fine
      ? ""
      : `This run has ${count(this.run.detail!.events)} events, more than ` +
        `${count(this.run.detail!.most)}: tiles show shares of time, and single events are those ` +
        `on the critical path.${this.command()}`;
  }

  /** True if a window of the page has every event of what is shown. */
  private isCovered(): boolean {
    const windows = this.run.detail?.windows_ps ?? [];
    return windows.some(([from, to]) => from <= this.view.from && to >= this.view.to);
  }

  /** The lanes of the ranks that are shown. */
  private *lanes(): Generator<[number, number, number]> {
    const { slices } = this.events;
    if (!slices) return;
    const [first, last] = [Math.floor(this.view.first), Math.ceil(this.view.last)];
    const lanes = slices.lanes;
    let [low, high] = [0, lanes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lanes[middle].rank < first) low = middle + 1;
      else high = middle;
    }
    for (; low < lanes.length && lanes[low].rank < last; low++) {
      const { from, to } = lanes[low];
      const start = search(slices.end, this.view.from, from, to);
      const end = search(slices.start, this.view.to, start, to, true);
      yield [low, start, end];
    }
  }

  private isFew(): boolean {
    let sum = 0;
    for (const [, start, end] of this.lanes()) {
      sum += end - start;
      if (sum > MANY_SLICES) return this.events.levels.length === 0;
    }
    return true;
  }

  private drawSlices(context: CanvasRenderingContext2D) {
    const { slices } = this.events;
    if (!slices) return;
    const row = this.y(1) - this.y(0);
    const gap = row > 5 ? Math.min(4, row * 0.15) : 0;
    const colours = COLOURS.slice(0, 3).map(colour);
    const box = this.box();
    const edge = box.left + box.width;
    const scale = box.width / (this.view.to - this.view.from);
    for (const [number, start, end] of this.lanes()) {
      const { rank, cpu } = slices.lanes[number];
      const cpus = this.rankLanes.get(rank)?.length ?? 1;
      const height = (row - 2 * gap) / cpus;
      const top = this.y(rank) + gap + Math.min(cpu, cpus - 1) * height;
      let drawn = 0;
      for (let place = start; place < end; place++) {
        const left = Math.max(box.left, box.left + (slices.start[place] - this.view.from) * scale);
        const right = Math.min(edge, box.left + (slices.end[place] - this.view.from) * scale);
        // What is within a pixel that is drawn already would not be seen.
        if (right < drawn) continue;
        context.fillStyle = colours[slices.activity[place]];
        context.fillRect(left, top, Math.max(right - left, 0.7), Math.max(height, 0.7));
        drawn = right - left < 0.7 ? left + 0.7 : 0;
      }
    }
  }

  private drawMessages(context: CanvasRenderingContext2D) {
    const { messages } = this.events;
    this.drawn = [];
    if (!messages) return;
    if (this.showMessages) {
      const from = search(this.byInjection, this.view.from - messages.longest);
      const to = search(this.byInjection, this.view.to, from, this.byInjection.length, true);
      for (let place = from; place < to && this.drawn.length <= MANY_MESSAGES; place++) {
        if (this.isVisible(place)) this.drawn.push(place);
      }
      if (this.drawn.length > MANY_MESSAGES) this.drawn = [];
      context.strokeStyle = colour("message");
      context.lineWidth = 1;
      // Where there are many, they are faint, and dark where they lie upon each other.
      context.globalAlpha = Math.max(0.12, Math.min(1, 8 / Math.sqrt(this.drawn.length + 1)));
      for (const place of this.drawn) {
        context.beginPath();
        this.trace(context, place);
        context.stroke();
      }
      context.globalAlpha = 1;
    }
    if (this.chosen >= 0) {
      context.strokeStyle = colour("ink");
      context.lineWidth = 3;
      context.beginPath();
      this.trace(context, this.chosen);
      context.stroke();
    }
  }

  private isVisible(place: number): boolean {
    const m = this.events.messages!;
    const [low, high] = [m.source[place], m.destination[place]].sort((a, b) => a - b);
    return (
      m.delivered[place] >= this.view.from &&
      m.injected[place] <= this.view.to &&
      high >= this.view.first - 1 &&
      low <= this.view.last
    );
  }

  private ends(place: number): [number, number, number, number] {
    const m = this.events.messages!;
    return [
      this.x(m.injected[place]),
      this.y(m.source[place] + 0.5),
      this.x(m.delivered[place]),
      this.y(m.destination[place] + 0.5),
    ];
  }

  private trace(context: CanvasRenderingContext2D, place: number) {
    const [x1, y1, x2, y2] = this.ends(place);
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
  }

  private drawPath(context: CanvasRenderingContext2D) {
    const { path, messages } = this.events;
    if (!path) return;
    const from = search(path.end, this.view.from);
    const to = search(path.start, this.view.to, from, path.start.length, true);
    context.beginPath();
    for (let step = from; step < to; step++) {
      const place = this.placeOf.get(path.message[step]);
      let start = path.rank[step];
      if (path.kind[step] === 3 && place !== undefined && messages) start = messages.source[place];
      context.moveTo(this.x(path.start[step]), this.y(start + 0.5));
      context.lineTo(this.x(path.end[step]), this.y(path.rank[step] + 0.5));
    }
    for (const [style, width] of [["page", 4.5], ["path", 2]] as const) {
      context.strokeStyle = colour(style);
      context.lineWidth = width;
      context.stroke();
    }
    if (this.step >= 0) {
      const y = this.y(path.rank[this.step]);
      const [x1, x2] = [this.x(path.start[this.step]), this.x(path.end[this.step])];
      context.strokeStyle = colour("ink");
      context.lineWidth = 2;
      context.strokeRect(x1 - 2, y, Math.max(4, x2 - x1 + 4), this.y(1) - this.y(0));
    }
  }

  private drawAxes(context: CanvasRenderingContext2D, width: number, height: number) {
    context.fillStyle = colour("quiet");
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "center";
    const [length, unit] = timeUnit(this.view.to);
    const scale = scaleLinear([this.view.from / length, this.view.to / length], [LABELS, width]);
    const ticks = scale.ticks(Math.max(2, Math.floor(width / 130)));
    const format = scale.tickFormat(ticks.length);
    context.strokeStyle = colour("grid");
    context.lineWidth = 1;
    context.beginPath();
    for (const tick of ticks) {
      const x = Math.round(scale(tick)) + 0.5;
      context.moveTo(x, AXIS - 4);
      context.lineTo(x, AXIS);
      if (x > LABELS + 30 && x < width - 30) {
        context.fillText(`${format(tick).replace("−", "-")} ${unit}`, x, AXIS / 2);
      }
    }
    context.stroke();
    context.textAlign = "right";
    const row = this.y(1) - this.y(0);
    const every = Math.max(1, 2 ** Math.ceil(Math.log2(15 / row)));
    const first = Math.ceil(this.view.first / every) * every;
    for (let rank = first; rank < this.view.last; rank += every) {
      const y = this.y(rank + Math.min(0.5, 7 / row));
      if (y < height - 5 && y > AXIS) context.fillText(String(rank), LABELS - 8, y);
    }
    context.fillText("rank", LABELS - 8, AXIS / 2);
  }

  // What the user does.

  private listen() {
    const { canvas } = this;
    const place = (event: MouseEvent) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const at = place(event);
        const factor = 1.0018 ** (event.deltaY || event.deltaX);
        if (event.shiftKey) this.stretch(factor, this.rankAt(at.y));
        else this.zoom(factor, this.timeAt(at.x));
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
      this.drag = { ...place(event), view: this.view };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", (event) => {
      const at = place(event);
      const { drag } = this;
      this.drag = undefined;
      if (drag && Math.hypot(at.x - drag.x, at.y - drag.y) < 4) this.choose(at.x, at.y);
    });
    canvas.addEventListener("pointermove", (event) => {
      const at = place(event);
      if (!this.drag) {
        this.hover(at.x, at.y);
        return;
      }
      const { width, height } = this.box();
      const [right, down] = [(this.drag.x - at.x) / width, (this.drag.y - at.y) / height];
      this.go(moved(this.drag.view, right, down));
    });
    canvas.addEventListener("dblclick", (event) => {
      const at = place(event);
      this.zoom(0.25, this.timeAt(at.x));
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent) {
    const keys: Record<string, () => void> = {
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      Home: () => this.whole(),
      ArrowLeft: () => this.go(moved(this.view, -0.1, 0)),
      ArrowRight: () => this.go(moved(this.view, 0.1, 0)),
      ArrowUp: () => (event.shiftKey ? this.stretch(0.5) : this.go(moved(this.view, 0, -0.1))),
      ArrowDown: () => (event.shiftKey ? this.stretch(2) : this.go(moved(this.view, 0, 0.1))),
      n: () => this.neighbour(1),
      p: () => this.neighbour(-1),
    };
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  /** Shows the next or previous message, from the one that is shown or the left edge. */
  private neighbour(step: number) {
    const { messages } = this.events;
    if (!messages || messages.id.length === 0) return;
    const from = this.chosen >= 0 ? this.chosen + step : search(this.byInjection, this.view.from);
    const place = Math.max(0, Math.min(messages.id.length - 1, from));
    this.showMessage(messages.id[place]);
  }

  private timeAt(x: number): number {
    const { left, width } = this.box();
    return this.view.from + ((x - left) / width) * (this.view.to - this.view.from);
  }

  private rankAt(y: number): number {
    const { top, height } = this.box();
    return this.view.first + ((y - top) / height) * (this.view.last - this.view.first);
  }

  /** The message whose line is within a few pixels, or else -1. */
  private messageAt(x: number, y: number): number {
    let [best, least] = [-1, 5];
    for (const place of this.drawn) {
      const [x1, y1, x2, y2] = this.ends(place);
      const [dx, dy] = [x2 - x1, y2 - y1];
      const along = ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1);
      const part = Math.max(0, Math.min(1, along));
      const distance = Math.hypot(x - x1 - part * dx, y - y1 - part * dy);
      if (distance < least) [best, least] = [place, distance];
    }
    return best;
  }

  /** The busy period at a point, with its lane. */
  private sliceAt(x: number, y: number): [number, number] | undefined {
    const { slices } = this.events;
    const [at, rank] = [this.timeAt(x), this.rankAt(y)];
    if (!slices || x < LABELS || y < AXIS) return undefined;
    const lanes = this.rankLanes.get(Math.floor(rank)) ?? [];
    const number = lanes[Math.min(lanes.length - 1, Math.floor((rank % 1) * lanes.length))];
    if (number === undefined) return undefined;
    const { from, to } = slices.lanes[number];
    const found = search(slices.end, at, from, to);
    return found < to && slices.start[found] <= at ? [found, number] : undefined;
  }

  private hover(x: number, y: number) {
    const message = this.messageAt(x, y);
    const slice = this.sliceAt(x, y);
    this.canvas.style.cursor = message >= 0 || slice ? "pointer" : "grab";
    if (message >= 0) this.say(messageText(this.events, message));
    else if (slice) this.say(sliceText(this.events, this.placeOf, slice[0], slice[1]));
    else if (x > LABELS && y > AXIS) {
      const at = time(this.timeAt(x));
      this.say(`Rank ${Math.floor(this.rankAt(y))} at ${at}: nothing to do.${this.command()}`);
    }
  }

  private choose(x: number, y: number) {
    const slice = this.sliceAt(x, y);
    const id = slice ? this.events.slices!.message[slice[0]] : -1;
    const at = this.messageAt(x, y);
    this.chosen = at >= 0 ? at : (this.placeOf.get(id) ?? -1);
    this.step = -1;
    if (this.chosen >= 0) this.say(messageText(this.events, this.chosen));
    this.redraw();
  }
}

