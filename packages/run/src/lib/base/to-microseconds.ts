/** Rounds milliseconds to microseconds: what times are recorded with. */
export function toMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000
}
