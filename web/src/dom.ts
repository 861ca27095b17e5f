// Elements. Text from the document only ever becomes text nodes and attributes, never markup.

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | EventListener | undefined>;

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Attributes, children: Child[]) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child != null) element.append(child);
}

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  fill(element, attributes, children);
  return element;
}

export function s(name: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, name) as SVGElement;
  fill(element, attributes, children);
  return element;
}

/** A section of the page with a heading. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  const heading = h("h2", { id: `${id}-title` }, title);
  return h("section", { id, "aria-labelledby": `${id}-title` }, heading, ...children);
}

/** A table; cells that are numbers stand to the right. */
export function table(
  caption: string,
  head: string[],
  rows: (string | Node)[][],
  numeric: number[] = [],
): HTMLElement {
  const cells = (row: (string | Node)[]) =>
    row.map((cell, place) =>
      place === 0
        ? h("th", { scope: "row" }, cell)
        : h("td", { class: numeric.includes(place) ? "number" : undefined }, cell),
    );
  const columns = head.map((name, place) =>
    h("th", { scope: "col", class: numeric.includes(place) ? "number" : undefined }, name),
  );
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...columns)),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...cells(row)))),
    ),
  );
}

/** The meaning of colours. */
export function legend(entries: [string, string][]): HTMLElement {
  const items = entries.map(([name, style]) =>
    h("li", {}, h("span", { class: `swatch ${style}`, "aria-hidden": "true" }), name),
  );
  return h("ul", { class: "legend" }, ...items);
}

/** Buttons of which one is pressed. */
export function choice(
  label: string,
  options: [string, string][],
  chosen: string,
  change: (value: string) => void,
): HTMLElement {
  const buttons = options.map(([value, text]) => {
    const button = h("button", { type: "button", "aria-pressed": String(value === chosen) }, text);
    button.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      change(value);
    });
    return button;
  });
  return h("div", { class: "choice", role: "group", "aria-label": label }, ...buttons);
}

/** A canvas as large as its box, in pixels of the screen. */
export function sized(canvas: HTMLCanvasElement): [CanvasRenderingContext2D, number, number] {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return [context, width, height];
}

const redraws = new Set<() => void>();

/** Draws now and whenever colours change; [`watch`] also when the size of the element does. */
export function onColours(draw: () => void) {
  redraws.add(draw);
}

export function watch(element: Element, draw: () => void) {
  onColours(draw);
  new ResizeObserver(draw).observe(element);
}

export function redrawAll() {
  colours.clear();
  for (const draw of redraws) draw();
}

const colours = new Map<string, string>();

/** A colour of the style sheet, as it is now: light, dark or on paper. */
export function colour(name: string): string {
  let found = colours.get(name);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    colours.set(name, found);
  }
  return found;
}

/** The red, green and blue of a colour `#rrggbb`. */
export function rgb(text: string): [number, number, number] {
  const value = parseInt(text.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}
