// Columns of numbers: base64, deflate, integers of variable length. `blob.rs` writes them.

/** Resolves when all columns are there: they stand behind the program. */
export const columns = new Promise<void>((resolve) => {
  if (document.readyState !== "loading") resolve();
  else document.addEventListener("DOMContentLoaded", () => resolve());
});

/** The bytes of a column. */
export async function bytesOf(id: number): Promise<Uint8Array> {
  await columns;
  const element = document.getElementById(`c${id}`);
  const text = atob(element?.textContent ?? "");
  const packed = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) packed[place] = text.charCodeAt(place);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The numbers of a column. Beyond 2^53 they are rounded. */
export async function numbersOf(id: number): Promise<Float64Array> {
  const bytes = await bytesOf(id);
  const { length } = bytes;
  let count = 0;
  for (let place = 0; place < length; place++) if (bytes[place] < 128) count++;
  const numbers = new Float64Array(count);
  let next = 0;
  let value = 0;
  let weight = 1;
  for (let place = 0; place < length; place++) {
    const byte = bytes[place];
    if (byte < 128) {
      numbers[next++] = value + byte * weight;
      value = 0;
      weight = 1;
    } else {
      value += (byte - 128) * weight;
      weight *= 128;
    }
  }
  return numbers;
}

/** The number that a folded one stands for: 0, 1, 2, 3 are 0, -1, 1, -2. */
export function unfolded(value: number): number {
  const half = Math.floor(value / 2);
  return value % 2 === 0 ? half : -half - 1;
}

/** The differences of a column. */
export async function stepsOf(id: number): Promise<Float64Array> {
  const numbers = await numbersOf(id);
  for (let place = 0; place < numbers.length; place++) numbers[place] = unfolded(numbers[place]);
  return numbers;
}

/** A column of which each number was written as its difference from the one before. */
export async function sumsOf(id: number): Promise<Float64Array> {
  const numbers = await stepsOf(id);
  for (let place = 1; place < numbers.length; place++) numbers[place] += numbers[place - 1];
  return numbers;
}

/** The first place in a sorted array, or in a part, whose value is above (or at least) `value`. */
export function search(
  array: Float64Array,
  value: number,
  from = 0,
  to = array.length,
  above = false,
): number {
  while (from < to) {
    const middle = (from + to) >> 1;
    const before = above ? array[middle] <= value : array[middle] < value;
    if (before) from = middle + 1;
    else to = middle;
  }
  return from;
}
