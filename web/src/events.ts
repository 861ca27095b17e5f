// The events of a timeline, and what the panel below it says of one of them.

import { bytes, exact } from "./format";
import { KINDS, type Messages, type Path, type Slices } from "./model";
import { type Level } from "./tiles";

export interface Events {
  slices?: Slices;
  messages?: Messages;
  path?: Path;
  levels: Level[];
}

/** The place of each message among those of the page, by its number. */
export type Places = Map<number, number>;

export function messageText(events: Events, place: number): string {
  const m = events.messages!;
  const known = (bit: number, value: number) =>
    m.known[place] & (1 << bit) ? exact(value) : "never";
  const transit = m.delivered[place] - m.injected[place];
  return (
    `Message ${m.id[place]}: rank ${m.source[place]} to rank ${m.destination[place]}, ` +
    `${bytes(m.size[place])}, tag ${m.tag[place] === -1 ? "any" : m.tag[place]}. ` +
    `Posted ${known(0, m.posted[place])}, injected ${known(1, m.injected[place])}, ` +
    `delivered ${known(2, m.delivered[place])}, matched ${known(3, m.matched[place])}; ` +
    `in the network for ${m.known[place] & 4 ? exact(transit) : "ever"}.`
  );
}

/** A text, and behind it that of a message, if the page has it. */
function withMessage(events: Events, places: Places, about: string, message: number): string {
  const place = places.get(message);
  return place === undefined ? about : `${about} ${messageText(events, place)}`;
}

export function sliceText(events: Events, places: Places, slice: number, lane: number): string {
  const { start, end, activity, message, lanes } = events.slices!;
  const { rank, cpu } = lanes[lane];
  const [from, to] = [start[slice], end[slice]];
  const on = cpu > 0 ? `, CPU ${cpu}` : "";
  const times = `from ${exact(from)} to ${exact(to)}, ${exact(to - from)}`;
  const about = `Rank ${rank}${on}: ${KINDS[activity[slice]]} ${times}.`;
  return withMessage(events, places, about, message[slice]);
}

export function stepText(events: Events, places: Places, step: number): string {
  const path = events.path!;
  const [from, to] = [path.start[step], path.end[step]];
  const call = path.call[step] ? `, in ${path.call[step]}` : "";
  const about =
    `Step ${step + 1} of ${path.kind.length}: ${KINDS[path.kind[step]]}, rank ` +
    `${path.rank[step]}${call}, from ${exact(from)} to ${exact(to)}, ${exact(to - from)}.`;
  return withMessage(events, places, about, path.message[step]);
}
