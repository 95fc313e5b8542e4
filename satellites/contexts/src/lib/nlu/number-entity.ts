import { ContextError } from '../model/context-error.ts'
import type { Entity, EntityMatch } from './entity.ts'

const UNITS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const NAMED = new Map([
  ...UNITS.map((word, i) => [word, i] as const),
  ...TENS.map((word, i) => [word, (i + 2) * 10] as const),
  ['couple', 2],
  ['dozen', 12],
])
/** Numbers with more digits are ignored. */
const MAX_DIGITS = 9

/**
 * Creates an entity for whole numbers from `least` to `most`, both included, in digits or in words up to ninety-nine.
 * Numbers out of range are not found. Throws `definition-invalid` if a bound is missing or `least` is above `most`.
 */
export function wholeNumber(bounds: { readonly least: number; readonly most: number }): Entity {
  const { least, most } = bounds ?? {}
  if (!(least <= most))
    throw new ContextError(
      'definition-invalid',
      `wholeNumber has the bounds ${JSON.stringify(bounds)}: give it both, the lower one first, as in wholeNumber({ least: 1, most: 9 }).`,
    )
  return {
    words: [...NAMED.keys()],
    find({ words }) {
      const matches: EntityMatch[] = []
      for (let start = 0; start < words.length; ) {
        const first = readNumber(words[start]?.normal as string)
        const second = words[start + 1] ? NAMED.get(words[start + 1]?.normal as string) : undefined
        // `twenty-three` is two words.
        const joined =
          TENS.includes(words[start]?.normal as string) && second !== undefined && second > 0 && second < 10
        const end = start + (joined ? 2 : 1)
        const value = joined ? (first as number) + second : first
        if (value !== undefined && value >= least && value <= most) matches.push({ start, end, value })
        start = end
      }
      return matches
    },
  }
}

function readNumber(word: string): number | undefined {
  if (/^\d+$/.test(word)) return word.length <= MAX_DIGITS ? Number(word) : undefined
  return NAMED.get(word)
}
