// The document, as `folder.rs` writes it, and the events that are decoded when they are shown.

import { bytesOf, numbersOf, stepsOf, sumsOf, unfolded } from "./columns";

type Json = any; // A figure of the document may be absent; those who show it say so.

export interface Document {
  heddle: string;
  anonymous: boolean;
  runs: Run[];
}

export interface Run {
  kind: "program" | "traffic" | "study" | "ladder";
  name: string;
  again?: string;
  command?: string;
  summary?: Json;
  manifest?: Json;
  horizon_ps?: number;
  detail?: { all: boolean; events: number; most: number; windows_ps: [number, number][] };
  ranks?: Json;
  path?: Json;
  activity?: Json;
  messages?: Json;
  calls?: Json;
  lines?: Json;
  network?: Json;
  loads?: Json;
  points?: Json[];
  saturation?: Json;
  columns?: string[];
  rows?: string[][];
  total?: number;
  ladders?: Json[];
}

/** The names of activities, of steps of the path, and of their colours. */
export const KINDS = ["computation", "sending", "receiving", "network", "waiting"];
export const COLOURS = ["compute", "send", "receive", "network", "waiting"];

/** Busy periods, by lane: a lane is a CPU of a rank. */
export interface Slices {
  lanes: { rank: number; cpu: number; from: number; to: number }[];
  start: Float64Array;
  end: Float64Array;
  activity: Uint8Array;
  /** The message's id, or -1. */
  message: Float64Array;
}

export interface Messages {
  id: Float64Array;
  source: Float64Array;
  destination: Float64Array;
  tag: Float64Array;
  size: Float64Array;
  /** Bits: posted, injected, delivered and matched are known. */
  known: Uint8Array;
  posted: Float64Array;
  injected: Float64Array;
  delivered: Float64Array;
  matched: Float64Array;
  longest: number;
}

export interface Path {
  kind: Float64Array;
  rank: Float64Array;
  start: Float64Array;
  end: Float64Array;
  /** The message's id, or -1. */
  message: Float64Array;
  call: (string | undefined)[];
  /** The line that it comes from, or 0. */
  line: Float64Array;
  /** The text of lines, where there is one text. */
  text: Map<number, string>;
}

export async function slicesOf(run: Run): Promise<Slices | undefined> {
  const detail = run.activity?.detail;
  if (!detail) return undefined;
  const [ranks, cpus, lengths, activity, starts, durations, steps] = await Promise.all([
    sumsOf(detail.ranks),
    numbersOf(detail.cpus),
    numbersOf(detail.lengths),
    bytesOf(detail.activity),
    stepsOf(detail.starts),
    stepsOf(detail.durations),
    numbersOf(detail.messages),
  ]);
  const count = activity.length;
  const [start, end, message] = [0, 0, 0].map(() => new Float64Array(count));
  const lanes = [];
  let next = 0;
  // The last message of each activity.
  const last = [0, 0, 0];
  for (let lane = 0; lane < ranks.length; lane++) {
    const from = next;
    let time = 0;
    for (; next < from + lengths[lane] && next < count; next++) {
      start[next] = time + starts[next];
      time = end[next] = start[next] + durations[next];
      if (steps[next] > 0) message[next] = last[activity[next]] += unfolded(steps[next] - 1);
      else message[next] = -1;
    }
    lanes.push({ rank: ranks[lane], cpu: cpus[lane], from, to: next });
  }
  return { lanes, start, end, activity, message };
}

export async function messagesOf(run: Run): Promise<Messages | undefined> {
  const detail = run.messages?.detail;
  if (!detail) return undefined;
  const [id, source, to, tag, size, known, injected, posted, delivered, matched] =
    await Promise.all([
      sumsOf(detail.ids),
      sumsOf(detail.sources),
      stepsOf(detail.destinations),
      sumsOf(detail.tags),
      sumsOf(detail.sizes),
      bytesOf(detail.known),
      sumsOf(detail.injected),
      stepsOf(detail.posted),
      stepsOf(detail.delivered),
      stepsOf(detail.matched),
    ]);
  let longest = 0;
  for (let place = 0; place < id.length; place++) {
    to[place] += source[place];
    posted[place] = injected[place] - posted[place];
    longest = Math.max(longest, delivered[place]);
    delivered[place] += injected[place];
    matched[place] += delivered[place];
  }
  const destination = to;
  return {
    ...{ id, source, destination, tag, size, known },
    ...{ posted, injected, delivered, matched, longest },
  };
}

export async function pathOf(run: Run): Promise<Path | undefined> {
  const path = run.path;
  if (!path) return undefined;
  const [kind, rank, lengths, message, calls, line] = await Promise.all([
    numbersOf(path.kinds),
    numbersOf(path.ranks),
    numbersOf(path.lengths),
    numbersOf(path.messages),
    numbersOf(path.calls),
    numbersOf(path.lines),
  ]);
  const [start, end] = [0, 0].map(() => new Float64Array(kind.length));
  let time = path.start_ps;
  for (let place = 0; place < kind.length; place++) {
    start[place] = time;
    time = end[place] = time + lengths[place];
    message[place] -= 1;
  }
  const call = Array.from(calls, (place) => (place > 0 ? path.names[place - 1] : undefined));
  const text = await textsOf(run);
  return { kind, rank, start, end, message, call, line, text };
}

/** The text of the lines that the critical path goes through. */
async function textsOf(run: Run): Promise<Map<number, string>> {
  const found = run.lines;
  if (!found) return new Map();
  const [numbers, bytes] = await Promise.all([sumsOf(found.on_path), bytesOf(found.texts)]);
  const texts = new TextDecoder().decode(bytes).split("\n");
  return new Map(Array.from(numbers, (line, place) => [line, texts[place]]));
}

/** The first rank of a group of ranks, and the one after its last. */
export function groupOf(ranks: number, groups: number, group: number): [number, number] {
  return [Math.ceil((group * ranks) / groups), Math.ceil(((group + 1) * ranks) / groups)];
}

/** The name of a group of ranks. */
export function groupName(ranks: number, groups: number, group: number): string {
  const [from, to] = groupOf(ranks, groups, group);
  return to - from > 1 ? `ranks ${from} to ${to - 1}` : `rank ${from}`;
}
