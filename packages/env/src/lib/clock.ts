/** Milliseconds since an arbitrary start, for durations. Never jumps. */
export function monotonic(): number {
  return performance.now()
}
