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
  places?: Json;
  lines?: Json;
  network?: Json;
  loads?: Json;
  points?: Json[];
  saturation?: Json;
  columns?: string[];
  /** The columns that vary in a study. */
  varied?: string[] | null;
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
  /** The place in a live program that called MPI. */
  place: (string | undefined)[];
}

/** Lists of places, by rank. */
type Open = Map<number, number[]>;

/** The places of numbers, by number; the last one first. */
function placesOf(ranks: Float64Array): Open {
  const places: Open = new Map();
  for (let place = ranks.length - 1; place >= 0; place--) {
    const of = places.get(ranks[place]);
    if (of) of.push(place);
    else places.set(ranks[place], [place]);
  }
  return places;
}

/** What messages are, without their times. */
async function headersOf(detail: Json) {
  const [id, source, destination, tag, size, known] = await Promise.all([
    sumsOf(detail.ids),
    sumsOf(detail.sources),
    stepsOf(detail.destinations),
    sumsOf(detail.tags),
    sumsOf(detail.sizes),
    bytesOf(detail.known),
  ]);
  for (let place = 0; place < id.length; place++) destination[place] += source[place];
  return { id, source, destination, tag, size, known };
}

type Headers = Awaited<ReturnType<typeof headersOf>>;

/** The busy periods of messages, by their place: -1 if there is none. */
interface Periods {
  sent: Int32Array;
  received: Int32Array;
}

/** Busy periods with their messages, which `links.rs` names. */
async function slicesOf(
  detail: Json,
  headers: Headers | undefined,
): Promise<{ slices: Slices; periods: Periods }> {
  const [ranks, cpus, lengths, activity, starts, durations, codes] = await Promise.all([
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
  const [sent, received] = [0, 0].map(() => new Int32Array(headers?.id.length ?? 0).fill(-1));
  const open = headers && [placesOf(headers.source), placesOf(headers.destination)];
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
      const [kind, code] = [activity[next], codes[next]];
      if (code === 0) {
        message[next] = -1;
      } else if (code % 2 === 0) {
        message[next] = last[kind] += unfolded(code / 2 - 1);
      } else {
        const receives = kind === 2;
        const list = open![receives ? 1 : 0].get(ranks[lane])!;
        const [place] = list.splice(list.length - 1 - (code - 1) / 2, 1);
        message[next] = last[kind] = headers!.id[place];
        (receives ? received : sent)[place] = next;
      }
    }
    lanes.push({ rank: ranks[lane], cpu: cpus[lane], from, to: next });
  }
  return {
    slices: { lanes, start, end, activity, message },
    periods: { sent, received },
  };
}

/** Messages with their times, which `messages.rs` takes from their busy periods. */
async function messagesOf(
  detail: Json,
  headers: Headers,
  slices?: Slices,
  periods?: Periods,
): Promise<Messages> {
  const [injected, posted, delivered, matched] = await Promise.all([
    stepsOf(detail.injected),
    numbersOf(detail.posted),
    stepsOf(detail.delivered),
    stepsOf(detail.matched),
  ]);
  const lastPosted = new Map<number, number>();
  let entry = 0;
  let longest = 0;
  for (let place = 0; place < injected.length; place++) {
    const source = headers.source[place];
    const [sent, received] = [periods?.sent[place] ?? -1, periods?.received[place] ?? -1];
    entry = injected[place] += sent < 0 ? entry : slices!.end[sent];
    const step = posted[place];
    const near = sent < 0 ? entry : slices!.start[sent];
    if (step === 1) posted[place] = lastPosted.get(source)!;
    else posted[place] = near + (step === 0 ? 0 : unfolded(step - 1));
    lastPosted.set(source, posted[place]);
    longest = Math.max(longest, delivered[place]);
    delivered[place] += entry;
    matched[place] += received < 0 ? delivered[place] : slices!.start[received];
  }
  return { ...headers, posted, injected, delivered, matched, longest };
}

/** The busy periods and messages that the page has one by one. */
export async function eventsOf(run: Run): Promise<{ slices?: Slices; messages?: Messages }> {
  const [activity, detail] = [run.activity?.detail, run.messages?.detail];
  const headers = detail && (await headersOf(detail));
  const found = activity && (await slicesOf(activity, headers));
  const messages =
    headers && (await messagesOf(detail, headers, found?.slices, found?.periods));
  return { slices: found?.slices, messages };
}

export async function pathOf(run: Run): Promise<Path | undefined> {
  const path = run.path;
  if (!path) return undefined;
  const [kind, rank, lengths, message, calls, line, places] = await Promise.all([
    numbersOf(path.kinds),
    numbersOf(path.ranks),
    numbersOf(path.lengths),
    numbersOf(path.messages),
    numbersOf(path.calls),
    numbersOf(path.lines),
    numbersOf(path.places),
  ]);
  const [start, end] = [0, 0].map(() => new Float64Array(kind.length));
  let time = path.start_ps;
  for (let place = 0; place < kind.length; place++) {
    start[place] = time;
    time = end[place] = time + lengths[place];
    message[place] -= 1;
  }
  const named = (numbers: Float64Array, names: string[]) =>
    Array.from(numbers, (number) => (number > 0 ? names[number - 1] : undefined));
  const call = named(calls, path.names);
  const place = named(places, path.place_names);
  const text = await textsOf(run);
  return { kind, rank, start, end, message, call, line, text, place };
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
