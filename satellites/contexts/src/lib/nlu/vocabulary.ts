import { editDistance } from '@episodic/protocol/internal'

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
