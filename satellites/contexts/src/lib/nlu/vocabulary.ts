export interface Vocabulary {
  correct(word: string): string | null
}

/** Shorter words are not corrected: too many of them differ by one letter. */
const LEAST_LENGTH = 4
/** From this length on, two errors are corrected instead of one. */
const LONG = 8
const MAX_LENGTH = 24

export function createVocabulary(words: Iterable<string>, others: Iterable<string> = []): Vocabulary {
  const known = new Set(words)
  // People seldom mistype the first letter, and it keeps `light` from becoming `flight`.
  const byFirst = Map.groupBy(
    [...known].filter((word) => word.length >= LEAST_LENGTH && /^\p{L}+$/u.test(word)),
    (word) => word[0] as string,
  )
  for (const word of others) known.add(word)
  return {
    correct(word) {
      if (known.has(word) || word.length < LEAST_LENGTH || word.length > MAX_LENGTH) return null
      const limit = word.length < LONG ? 1 : 2
      const near = (byFirst.get(word[0] as string) ?? [])
        .map((candidate) => ({ candidate, distance: editDistance(word, candidate, limit) }))
        .filter(({ distance }) => distance <= limit)
      const least = near.filter(({ distance }) => near.every((other) => other.distance >= distance))
      return least.length === 1 ? (least[0]?.candidate ?? null) : null
    },
  }
}

/**
 * Returns the number of letters to insert, delete, replace or swap with their neighbour to turn one word into another
 * (optimal string alignment). Returns `most` + 1 for any distance above `most`, without computing it.
 */
export function editDistance(from: string, to: string, most: number): number {
  if (Math.abs(from.length - to.length) > most) return most + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let cost = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + (same ? 0 : 1))
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] as number) + 1)
      row.push(cost)
    }
    if (Math.min(...row) > most) return most + 1
    beforeLast = last
    last = row
  }
  return Math.min(last[to.length] as number, most + 1)
}
