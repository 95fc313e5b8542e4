/** The groups of the last match in what a player was shown. Throws with all that was shown where there is none. */
export function findIn(shown: string, pattern: RegExp, what: string): readonly string[] {
  const found = [...shown.matchAll(pattern)].at(-1)
  if (!found) throw new Error(`${what} is not in what the player was shown:\n${shown}`)
  return found.slice(1)
}
