/** Texts from this length on have characters that are too frequent to begin a match with. */
const LONG = 200

/** Returns how similar two texts are, from 0 to 1, as `difflib.SequenceMatcher(None, a, b).ratio()` does. */
export function similarity(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)]
  const places = Map.groupBy(right.keys(), (i) => right[i] as string)
  if (right.length >= LONG)
    for (const [character, found] of places)
      if (found.length > Math.floor(right.length / 100) + 1) places.delete(character)
  const total = left.length + right.length
  return total === 0 ? 1 : (2 * matched(left, right, places, [0, left.length, 0, right.length])) / total
}

type Range = readonly [fromLeft: number, toLeft: number, fromRight: number, toRight: number]

/** Counts what is in the longest match, and on both of its sides. */
function matched(
  left: readonly string[],
  right: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  [fromLeft, toLeft, fromRight, toRight]: Range,
): number {
  let [at, to, size] = [fromLeft, fromRight, 0]
  let lengths = new Map<number, number>()
  for (let i = fromLeft; i < toLeft; i += 1) {
    const next = new Map<number, number>()
    for (const j of places.get(left[i] as string) ?? []) {
      if (j < fromRight) continue
      if (j >= toRight) break
      const length = (lengths.get(j - 1) ?? 0) + 1
      next.set(j, length)
      if (length > size) [at, to, size] = [i - length + 1, j - length + 1, length]
    }
    lengths = next
  }
  while (at > fromLeft && to > fromRight && left[at - 1] === right[to - 1]) [at, to, size] = [at - 1, to - 1, size + 1]
  while (at + size < toLeft && to + size < toRight && left[at + size] === right[to + size]) size += 1
  if (size === 0) return 0
  const side = (range: Range) => matched(left, right, places, range)
  return size + side([fromLeft, at, fromRight, to]) + side([at + size, toLeft, to + size, toRight])
}
