import type { Cues } from './compile-rule.ts'
import type { Place } from './said-phrases.ts'
import type { Utterance } from './utterance.ts'
import { COMMON_WORDS, weightOf } from './word-weight.ts'

/** A phrase that was said where a slot's value is expected, and that no entity recognises. */
export interface UnknownPhrase extends Place {
  /** As it was said. */
  readonly text: string
  /** Whether it is written as a name is, with a capital. */
  readonly isName: boolean
}

/** How many words of one are reported. */
const MAX_WORDS = 4
/** How many characters of one are reported. */
const MAX_CHARACTERS = 100

/**
 * Finds the last thing that stands beside one of a slot's cues and that no entity recognises: the Berlin of "from Berlin", the 40 of "40
 * passengers".
 *
 * Words of the rules and common words are none, unless they are written with a capital: "to pay" names no city, and "to New Orleans" does.
 *
 * @param known - whether a word, by its place, is part of something that was understood.
 * @param vocabulary - the words that the rules know.
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
  const mention = (start: number, end: number): UnknownPhrase => ({
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
      if (end > start) return mention(start, end)
    }
    if (cues.before.some((cue) => isCue(cue, at + 1)) && !known(at) && (isUnknown(at) || isNumber(at)))
      return mention(at, at + 1)
  }
  return null
}

const COMMON: ReadonlySet<string> = new Set(COMMON_WORDS)
const ARTICLES: ReadonlySet<string> = new Set(['the', 'a', 'an'])
