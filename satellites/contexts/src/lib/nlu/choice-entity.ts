import type { Json } from '@episodic/protocol'
import { ContextError } from '../model/context-error.ts'
import type { Entity, EntityMatch } from './entity.ts'
import { type Word, wordsOf } from './utterance.ts'

interface Name {
  readonly words: readonly string[]
  readonly value: Json
  /** Whether it is written in capitals, like an airport's code: it then matches only capitals. */
  readonly capitals: boolean
}

/**
 * Creates an entity for the items of a list: `{ DXB: ['Dubai', 'DXB'], NYC: ['New York', 'the big apple'] }` finds a
 * value by any of its names. The longest name wins. Case and accents do not matter, and typing errors in words of four
 * letters and more are corrected. A name in capitals matches only capitals: `CAN` does not match `can`.
 *
 * @param again - words that refer to the last value, for example `there` for a place. Default: none.
 * @throws `definition-invalid` if a name stands for two values, or has no word in it.
 */
export function oneOf(
  names: Readonly<Record<string, readonly string[]>>,
  { again = [] }: { readonly again?: readonly string[] } = {},
): Entity {
  return choiceOf(
    Object.entries(names).flatMap(([value, ways]) => ways.map((way) => toName(way, value))),
    again,
  )
}

/** Creates an entity for `true` and `false`, by the usual words for yes and no. */
export function yesOrNo(): Entity {
  return choiceOf([...YES.map((way) => toName(way, true)), ...NO.map((way) => toName(way, false))], [])
}

const YES = ['yes', 'yeah', 'yep', 'yup', 'sure', 'ok', 'okay', 'of course', 'certainly', 'correct', 'exactly', 'right']
const NO = ['no', 'nope', 'nah', 'not at all', 'certainly not', 'of course not', 'wrong', 'incorrect', 'not right']

function toName(way: string, value: Json): Name {
  const words = wordsOf(way)
  if (words.length === 0)
    throw new ContextError(
      'definition-invalid',
      `"${way}" is no name for ${JSON.stringify(value)}: it has no word in it.`,
    )
  return { words, value, capitals: way === way.toUpperCase() && /\p{L}/u.test(way) }
}

function choiceOf(names: readonly Name[], again: readonly string[]): Entity {
  const referring = again.map((way) => ({ ...toName(way, null), refers: true }))
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
        const found = byFirst.get(words[start]?.normal as string)?.find((name) => matchesAt(name, words, start))
        const value = found?.refers ? context.last : found?.value
        const end = start + (found?.words.length ?? 1)
        if (value !== undefined && value !== null) matches.push({ start, end, value })
        start = end
      }
      return matches
    },
  }
}

function matchesAt({ words: name, capitals }: Name, words: readonly Word[], start: number): boolean {
  return name.every((word, i) => {
    const said = words[start + i]
    return said?.normal === word && (!capitals || said.capitals)
  })
}
