/**
 * How many guesses find any number from `low` to `high`: ⌈log₂(n + 1)⌉ for n numbers, since k guesses distinguish at
 * most 2ᵏ − 1 numbers (Knuth, The Art of Computer Programming, vol. 3, section 6.2.1).
 */
export function guessesNeeded(low: number, high: number): number {
  let guesses = 0
  // Halving instead of a logarithm: exact for every range.
  for (let left = high - low + 1; left > 0; left = Math.floor(left / 2)) guesses += 1
  return guesses
}
