/**
 * Orders two lines of one episode, the one that counts first: a finished line before a failed one, of finished ones the
 * first try, and of failed ones the last. Returns 0 for two lines of the same play, which conflict unless they are
 * equal: then the one with the lowest content counts.
 */
export function compareTries(failed: boolean, tried: number, otherFailed: boolean, otherTried: number): number {
  return Number(failed) - Number(otherFailed) || (failed ? otherTried - tried : tried - otherTried)
}
