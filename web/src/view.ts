// The part of a run that a timeline shows, and how it moves.

export interface View {
  /** Times at the left and right edge. */
  from: number;
  to: number;
  /** Ranks at the top and bottom edge, the second behind the last. */
  first: number;
  last: number;
}

/** The shortest stretch of time that is shown, in picoseconds. */
const SHORTEST = 10;

/** Keeps a view within the run. */
export function kept(view: View, horizon: number, ranks: number): View {
  const length = Math.min(horizon, Math.max(SHORTEST, view.to - view.from));
  const from = Math.max(0, Math.min(horizon - length, view.from));
  const rows = Math.min(ranks, Math.max(1, view.last - view.first));
  const first = Math.max(0, Math.min(ranks - rows, view.first));
  return { from, to: from + length, first, last: first + rows };
}

/** Makes the shown time longer or shorter around a point. */
export function zoomed(view: View, factor: number, around: number): View {
  const [from, to] = [view.from, view.to].map((edge) => around + (edge - around) * factor);
  return { ...view, from, to };
}

/** Shows more ranks or fewer around one. */
export function stretched(view: View, factor: number, around: number): View {
  const [first, last] = [view.first, view.last].map((edge) => around + (edge - around) * factor);
  return { ...view, first, last };
}

/** Moves by shares of what is shown. */
export function moved(view: View, time: number, ranks: number): View {
  const [by, down] = [(view.to - view.from) * time, (view.last - view.first) * ranks];
  return {
    from: view.from + by,
    to: view.to + by,
    first: view.first + down,
    last: view.last + down,
  };
}
