import { marksOf } from './marks.ts'
import { WORDS, type Word } from './words.ts'

/** A guess, and the guesses in all that it takes with the best play to find each word of a set. */
interface Plan {
  readonly guess: Word
  readonly guesses: number
}

const plans = new Map<string, Plan>()

/**
 * Returns the guess that finds a word of the set in the fewest guesses on average, and how many these are for all words
 * together. Exact: every guess is tried whose bound is below the best so far. Prefers words of the set.
 */
export function bestGuess(words: readonly Word[]): Plan {
  const key = words.join()
  const plan = plans.get(key) ?? search(words)
  plans.set(key, plan)
  return plan
}

function search(words: readonly Word[]): Plan {
  const [first] = words as readonly [Word, ...Word[]]
  if (words.length <= 2) return { guess: first, guesses: leastFor(words) }
  const candidates = [...words, ...WORDS]
    .map((guess) => {
      const groups = groupsAfter(guess, words)
      return { guess, groups, bound: groups.reduce((sum, group) => sum + leastFor(group), words.length) }
    })
    .sort((one, other) => one.bound - other.bound)
  let best: Plan = { guess: first, guesses: Number.POSITIVE_INFINITY }
  for (const { guess, groups, bound } of candidates) {
    if (bound >= best.guesses) break
    // A guess that shows nothing would be made again for ever.
    if (groups.some((group) => group.length === words.length)) continue
    let guesses = bound
    for (const group of groups) {
      guesses += bestGuess(group).guesses - leastFor(group)
      if (guesses >= best.guesses) break
    }
    if (guesses < best.guesses) best = { guess, guesses }
  }
  return best
}

/** The guesses that a set takes if one word is found at once, and every other one with the second guess. */
function leastFor(words: readonly Word[]): number {
  return 2 * words.length - 1
}

/** The words that are left after each answer to a guess but "found". */
function groupsAfter(guess: Word, words: readonly Word[]): Word[][] {
  const groups = Map.groupBy(
    words.filter((word) => word !== guess),
    (word) => marksOf(guess, word),
  )
  return [...groups.values()]
}
