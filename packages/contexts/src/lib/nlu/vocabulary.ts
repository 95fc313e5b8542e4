import { editDistance } from './edit-distance.ts'

/** The words that rules know. */
export interface Vocabulary {
  /** The word that a misspelled one was meant to be; `null` where it is known, or nothing or several are as near. */
  correct(word: string): string | null
}

/** Shorter words differ from one another by a letter too often for one to be taken for another. */
const LEAST_LENGTH = 4
/** From this length on, two letters may be wrong. */
const LONG = 8
/** A word longer than this is none of ours, and is not compared. */
const MAX_LENGTH = 24

/**
 * Makes a vocabulary.
 *
 * @param words - what a misspelled word is corrected to.
 * @param others - what is right as it is, and no correction of anything.
 */
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
