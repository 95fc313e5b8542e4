import type { Cues } from './intent-rule.ts'
import type { Utterance, WordRange } from './utterance.ts'
import { COMMON_WORDS, weightOf } from './word-weight.ts'

/** A phrase that was said in place of a slot's value, and that no entity recognises. */
export interface UnknownPhrase extends WordRange {
  readonly text: string
  readonly isName: boolean
}

const MAX_WORDS = 4
const MAX_CHARACTERS = 100

/**
 * Finds the last phrase beside one of a slot's cues that no entity recognises: the Berlin of "from Berlin", the 40 of
 * "40 passengers".
 *
 * Common words and words of the rules count only with a capital: "to pay" names no city, and "to New Orleans" does.
 *
 * @param known - whether the word at an index is part of a match or phrase.
 * @param vocabulary - the words of all rules.
 */
export function findUnknownPhrase(
  cues: NonNullable<Cues>,
  { words, text }: Utterance,
  known: (word: number) => boolean,
  vocabulary: ReadonlySet<string>,
): UnknownPhrase | null {
  const written = (word: number): string => text.slice(words[word]?.start, words[word]?.end)
  const isName = (word: number): boolean => /^\p{Lu}/u.test(written(word))
  const isNumber = (word: number): boolean => /^\d/.test(written(word))
  const isUnknown = (word: number): boolean => {
    const said = words[word]
    if (!said || known(word) || said.normal.length < 2 || weightOf(said.normal) < 1) return false
    return isName(word) || !(COMMON.has(said.normal) || vocabulary.has(said.normal))
  }
  const isCue = (cue: readonly string[], at: number): boolean =>
    at >= 0 && cue.length > 0 && cue.every((word, i) => words[at + i]?.normal === word)
  const phrase = (start: number, end: number): UnknownPhrase => ({
    start,
    end,
    isName: isName(start),
    text: text
      .slice(words[start]?.start, words[end - 1]?.end)
      .slice(0, MAX_CHARACTERS)
      .toWellFormed(),
  })
  for (let at = words.length - 1; at >= 0; at--) {
    const ahead = cues.after.find((cue) => isCue(cue, at))
    if (ahead && words[at - 1]?.normal !== 'not') {
      const next = at + ahead.length
      const start = ARTICLES.has(words[next]?.normal ?? '') ? next + 1 : next
      let end = start
      while (end - start < MAX_WORDS && isUnknown(end) && !isNumber(end)) end += 1
      if (end > start) return phrase(start, end)
    }
    if (cues.before.some((cue) => isCue(cue, at + 1)) && !known(at) && (isUnknown(at) || isNumber(at)))
      return phrase(at, at + 1)
  }
  return null
}

const COMMON: ReadonlySet<string> = new Set(COMMON_WORDS)
const ARTICLES: ReadonlySet<string> = new Set(['the', 'a', 'an'])
