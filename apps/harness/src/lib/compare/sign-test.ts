/**
 * The chance that a fair coin splits `up + down` tosses at least as unevenly as this, either way: the exact two-sided sign
 * test. Over tasks with one episode each it is McNemar's exact test of the episodes that flipped.
 *
 * Dixon & Mood, "The Statistical Sign Test" (1946); McNemar, "Note on the sampling error of the difference between
 * correlated proportions or percentages" (1947).
 *
 * @param up - tasks that came out higher. Those that came out equal count on neither side.
 * @returns 1 where there is no toss.
 */
export function signTest(up: number, down: number): number {
  const tosses = up + down
  const fewer = Math.min(up, down)
  // In logarithms, for 2^−n is 0 from a thousand tosses on.
  let logarithm = -tosses * Math.LN2
  for (let i = 1; i <= fewer; i++) logarithm += Math.log((tosses - fewer + i) / i)
  let sum = 0
  for (let i = fewer, term = 1; i >= 0; i--) {
    sum += term
    term *= i / (tosses - i + 1)
  }
  return Math.min(1, 2 * Math.exp(logarithm) * sum)
}
