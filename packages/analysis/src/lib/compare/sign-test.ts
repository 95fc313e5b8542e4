/**
 * The p-value of the exact two-sided sign test: the probability that a fair coin splits `up + down` tosses at least as
 * unevenly. Over tasks with one episode each it is McNemar's exact test.
 *
 * Dixon & Mood, "The Statistical Sign Test" (1946); McNemar, "Note on the sampling error of the difference between
 * correlated proportions or percentages" (1947).
 *
 * @param up - tasks with a positive difference. Equal ones are not counted.
 * @param down - tasks with a negative difference.
 * @returns 1 if both are 0.
 */
export function signTest(up: number, down: number): number {
  const tosses = up + down
  const fewer = Math.min(up, down)
  // In logarithms, because 2^−n underflows from about a thousand tosses on.
  let logarithm = -tosses * Math.LN2
  for (let i = 1; i <= fewer; i++) logarithm += Math.log((tosses - fewer + i) / i)
  let sum = 0
  for (let i = fewer, term = 1; i >= 0; i--) {
    sum += term
    term *= i / (tosses - i + 1)
  }
  return Math.min(1, 2 * Math.exp(logarithm) * sum)
}
