import type { Json } from '@episodic/protocol'
import { ContextError } from '../model/context-error.ts'
import type { Entity, EntityMatch } from './entity.ts'
import { type Word, wordsOf } from './utterance.ts'

/** A name of one of a list, as it stands in a tree by words. */
interface Name {
  readonly words: readonly string[]
  readonly value: Json
  /** A name that is written in capitals, such as an airport's code, is found only where it is written so. */
  readonly capitals: boolean
}

/**
 * One of a list: `{ DXB: ['Dubai', 'DXB'], NYC: ['New York', 'the big apple'] }` finds the value by any of its names. The longest
 * name wins, case and accents are all one, and typing errors in words of four letters and more are forgiven. A name in
 * capitals is found in capitals alone: `CAN` is no `can`.
 *
 * @param again - words that stand for what was named last, such as `there` for a place. Default: none.
 * Throws `definition-invalid` where one name stands for two values, or has no word in it.
 */
export function oneOf(
  names: Readonly<Record<string, readonly string[]>>,
  { again = [] }: { readonly again?: readonly string[] } = {},
): Entity {
  return choiceOf(
    Object.entries(names).flatMap(([value, ways]) => ways.map((way) => nameOf(way, value))),
    again,
  )
}

/** `true` or `false`, by the usual words for yes and no. */
export function yesOrNo(): Entity {
  return choiceOf([...YES.map((way) => nameOf(way, true)), ...NO.map((way) => nameOf(way, false))], [])
}

const YES = ['yes', 'yeah', 'yep', 'yup', 'sure', 'ok', 'okay', 'of course', 'certainly', 'correct', 'exactly', 'right']
const NO = ['no', 'nope', 'nah', 'not at all', 'certainly not', 'of course not', 'wrong', 'incorrect', 'not right']

function nameOf(way: string, value: Json): Name {
  const words = wordsOf(way)
  if (words.length === 0)
    throw new ContextError(
      'definition-invalid',
      `"${way}" is no name for ${JSON.stringify(value)}: it has no word in it.`,
    )
  return { words, value, capitals: way === way.toUpperCase() && /\p{L}/u.test(way) }
}

function choiceOf(names: readonly Name[], again: readonly string[]): Entity {
  const referring = again.map((way) => ({ ...nameOf(way, null), refers: true }))
  const all = [...names.map((name) => ({ ...name, refers: false })), ...referring]
  const meanings = new Map<string, Json>()
  for (const { words, value, capitals } of all) {
    const key = `${capitals} ${words.join(' ')}`
    const other = meanings.get(key)
    if (other !== undefined && other !== value)
      throw new ContextError(
        'definition-invalid',
        `"${words.join(' ')}" names both ${JSON.stringify(other)} and ${JSON.stringify(value)}: give each a name of its own.`,
      )
    meanings.set(key, value)
  }
  const byFirst = Map.groupBy(
    all.toSorted((a, b) => b.words.length - a.words.length),
    ({ words }) => words[0] as string,
  )
  return {
    words: [...new Set(all.filter(({ capitals }) => !capitals).flatMap(({ words }) => words))],
    find({ words }, context) {
      const matches: EntityMatch[] = []
      for (let start = 0; start < words.length; ) {
        const found = byFirst.get(words[start]?.normal as string)?.find((name) => stands(name, words, start))
        const value = found?.refers ? context.last : found?.value
        const end = start + (found?.words.length ?? 1)
        if (value !== undefined && value !== null) matches.push({ start, end, value })
        start = end
      }
      return matches
    },
  }
}

function stands({ words: name, capitals }: Name, words: readonly Word[], start: number): boolean {
  return name.every((word, i) => {
    const said = words[start + i]
    return said?.normal === word && (!capitals || said.capitals)
  })
}
