// Quantities as people read them.

const TIMES: [number, string][] = [
  [1e12, "s"],
  [1e9, "ms"],
  [1e6, "µs"],
  [1e3, "ns"],
  [1, "ps"],
];

/** The unit in which a time, or the longest of several, is shown, and its length. */
export function timeUnit(ps: number): [number, string] {
  return TIMES.find(([length]) => Math.abs(ps) >= length) ?? [1, "ps"];
}

function digits(value: number, most: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: most, useGrouping: false });
}

/** A time, rounded to four digits. */
export function time(ps: number | null | undefined): string {
  if (ps == null || !Number.isFinite(ps)) return "–";
  const [length, unit] = timeUnit(ps);
  return `${digits(ps / length, 4)} ${unit}`;
}

/** A time with all its digits. */
export function exact(ps: number | null | undefined): string {
  if (ps == null || !Number.isFinite(ps)) return "never";
  const [length, unit] = timeUnit(ps);
  return `${digits(ps / length, 15)} ${unit}`;
}

/** A time as the command line takes it, without spaces, rounded down or up to whole picoseconds. */
export function argument(ps: number): string {
  return `${Math.round(ps)}ps`;
}

const SIZES: [number, string][] = [
  [2 ** 50, "PiB"],
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
];

export function bytes(count: number | null | undefined): string {
  if (count == null || !Number.isFinite(count)) return "–";
  const found = SIZES.find(([size]) => count >= size);
  return found ? `${digits(count / found[0], 4)} ${found[1]}` : `${count} B`;
}

/** A count with thin spaces between thousands. */
export function count(value: number | null | undefined): string {
  if (value == null) return "–";
  return value.toLocaleString("en").replaceAll(",", "\u202f");
}

export function percent(share: number): string {
  return Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : "–";
}

/** A number with up to four digits. */
export function number(value: number | null | undefined): string {
  return value == null || !Number.isFinite(value) ? "–" : digits(value, 4);
}
