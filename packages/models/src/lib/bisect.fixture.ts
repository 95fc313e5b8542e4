/** Returns the next guess of a bisection, from the text so far; `null` once the episode is over. */
export function nextGuess(said: string): number | null {
  if (/-?\d+ is correct/.test(said)) return null
  let [low, high] = (/from (-?\d+) to (-?\d+)/.exec(said) ?? []).slice(1).map(Number) as [number, number]
  for (const [, hint, value] of said.matchAll(/The number is (higher|lower) than (-?\d+)/g))
    if (hint === 'higher') low = Math.max(low, Number(value) + 1)
    else high = Math.min(high, Number(value) - 1)
  return Math.floor((low + high) / 2)
}
