export function createMeasuredRows(count: number, estimate: number) {
  const heights = new Float64Array(count).fill(estimate)
  const offsets = new Float64Array(count + 1)
  /** Offsets up to this one are right. */
  let right = 0
  const offset = (index: number): number => {
    for (; right < index; right++) offsets[right + 1] = (offsets[right] as number) + (heights[right] as number)
    return offsets[index] as number
  }
  /** The last row that begins at or before a distance. */
  const at = (distance: number): number => {
    let [low, high] = [0, Math.max(0, count - 1)]
    offset(count)
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (offset(middle) <= distance) low = middle
      else high = middle - 1
    }
    return low
  }
  return {
    /** Of all rows, in pixels. */
    get total() {
      return offset(count)
    },
    /** The distance of a row from the first one; of the count of rows, the height of all. */
    offset,
    measure(index: number, height: number): boolean {
      if (index < 0 || index >= count || Math.abs((heights[index] as number) - height) < 0.5) return false
      heights[index] = height
      right = Math.min(right, index)
      return true
    },
    /** The rows between two distances from the first one: to before `to`, at least one if there is any. */
    between: (top: number, bottom: number) => ({ from: at(top), to: count === 0 ? 0 : at(Math.max(top, bottom)) + 1 }),
  }
}
