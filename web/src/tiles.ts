// Levels of tiles: shares of time by group of ranks and interval, for what is too much to draw
// one by one.

import { bytesOf } from "./columns";
import { colour, rgb } from "./dom";
import { COLOURS, type Run } from "./model";
import type { View } from "./view";

export interface Level {
  rows: number;
  columns: number;
  shares: Uint8Array;
  /** The tiles as an image, a pixel each, in the colours that the page has now. */
  image?: OffscreenCanvas;
}

export async function levelsOf(run: Run): Promise<Level[]> {
  const levels: any[] = run.activity?.levels ?? [];
  return Promise.all(
    levels.map(async ({ rows, columns, shares }) => ({
      rows,
      columns,
      shares: await bytesOf(shares),
    })),
  );
}

/** Forgets images, whose colours have changed. */
export function forget(levels: Level[]) {
  for (const level of levels) level.image = undefined;
}

/** The coarsest level that has a tile for each pixel or two, or else the finest. */
function fitting(levels: Level[], time: number, ranks: number, box: Box): Level {
  const fine = levels.find(
    (level) => level.columns * time >= box.width / 2 && level.rows * ranks >= box.height / 4,
  );
  return fine ?? levels[levels.length - 1];
}

/** Each tile has the mean colour of what its ranks do in its time. */
function imageOf({ rows, columns, shares }: Level): OffscreenCanvas {
  const image = new ImageData(columns, rows);
  const idle = rgb(colour("idle"));
  const colours = COLOURS.slice(0, 3).map((name) => rgb(colour(name)));
  const [compute, send, receive] = colours;
  for (let row = 0; row < rows; row++) {
    const base = row * 3 * columns;
    for (let column = 0; column < columns; column++) {
      const one = shares[base + column];
      const two = shares[base + columns + column];
      const three = shares[base + 2 * columns + column];
      const whole = Math.max(255, one + two + three);
      const rest = whole - one - two - three;
      const place = (row * columns + column) * 4;
      for (let channel = 0; channel < 3; channel++) {
        const mixed =
          idle[channel] * rest +
          compute[channel] * one +
          send[channel] * two +
          receive[channel] * three;
        image.data[place + channel] = mixed / whole;
      }
      image.data[place + 3] = 255;
    }
  }
  const canvas = new OffscreenCanvas(columns, rows);
  canvas.getContext("2d")!.putImageData(image, 0, 0);
  return canvas;
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Draws the tiles of what is shown. */
export function drawTiles(
  context: CanvasRenderingContext2D,
  levels: Level[],
  view: View,
  extent: { horizon: number; ranks: number },
  box: Box,
) {
  const [time, ranks] = [
    (view.to - view.from) / extent.horizon,
    (view.last - view.first) / extent.ranks,
  ];
  const level = fitting(levels, time, ranks, box);
  level.image ??= imageOf(level);
  context.imageSmoothingEnabled = level.columns * time > box.width;
  context.drawImage(
    level.image,
    (view.from / extent.horizon) * level.columns,
    (view.first / extent.ranks) * level.rows,
    time * level.columns,
    ranks * level.rows,
    box.left,
    box.top,
    box.width,
    box.height,
  );
}
