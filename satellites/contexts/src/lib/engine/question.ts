import type { JsonObject } from '@episodic/protocol'
import type { Question, QuestionOption } from '../model/conversation-record.ts'
import type { IntentCandidate } from '../model/interpreter.ts'
import type { Route } from '../model/router.ts'
import type { Turn } from './turn.ts'

export function askAbout({ rules }: Turn, routes: readonly Route[]): Question {
  return {
    options: routes.map(({ intent, slots, context, frame, unrecognised }, _, { length }) => {
      const words = rules.intents.get(intent)?.description ?? intent
      const values = Object.values(slots)
        .filter((value) => typeof value === 'string' || typeof value === 'number')
        .join(', ')
      const alike = length > 1 && routes.filter((other) => other.intent === intent).length > 1
      const who = alike && context !== null ? ` in ${rules.contexts.get(context)?.description ?? context}` : ''
      const label = `${words}${values && ` (${values})`}${who}`
      return { label, intent, slots, context, frame, ...(unrecognised && { unrecognised }) }
    }),
  }
}

/** The chosen option, `none` of them, an `unclear` answer, or `null` for a text that is not an answer. */
export type Choice = QuestionOption | 'none' | 'unclear' | null

const LONGEST_ANSWER = 200

/**
 * Reads the answer to a question: a number or ordinal, words of exactly one option, or an utterance whose best
 * candidate is the intent of exactly one option. Anything else is not an answer. The words for numbers and for none are
 * English.
 */
export function readChoice({ options }: Question, text: string, candidates: readonly IntentCandidate[]): Choice {
  return (text.length <= LONGEST_ANSWER ? byWords(options, wordsOf(text)) : null) ?? byIntent(options, candidates)
}

function byWords(options: readonly QuestionOption[], said: readonly string[]): Choice {
  const words = said.filter((word) => !FILLERS.has(word))
  // A bare "yes" is unclear: routed as an intent, it might confirm something else.
  if (words.length === 0) return ONE.test(said.join(' ')) ? (options[0] ?? null) : 'unclear'
  if (words.every((word) => NONE.has(word))) return 'none'
  const [first] = words
  if (words.length === 1 && first !== undefined) {
    const place = first === 'last' || first === 'latter' ? options.length : PLACES.get(first)
    if (place !== undefined) return options[place - 1] ?? null
  }
  const vocabularies = options.map(
    (option) => new Set(wordsOf(`${option.label} ${option.intent} ${option.context ?? ''}`)),
  )
  // Every word has to be in the option, so that a new request is not taken for an answer.
  const fitting = options.filter((_, index) => words.every((word) => vocabularies[index]?.has(word)))
  return fitting.length === 1 ? (fitting[0] ?? null) : null
}

function byIntent(options: readonly QuestionOption[], candidates: readonly IntentCandidate[]): Choice {
  const [best, next] = candidates
  if (!best || (next && next.score === best.score)) return null
  const fitting = options.filter(({ intent }) => intent === best.intent)
  const [option] = fitting
  return fitting.length === 1 && option && agrees(option.slots, best.slots) ? option : null
}

function agrees(offered: JsonObject, said: JsonObject): boolean {
  return Object.entries(said).every(([slot, value]) => JSON.stringify(offered[slot]) === JSON.stringify(value))
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{Letter}\p{Number}]+/gu) ?? []
  )
}

const FILLERS = new Set(
  'a an the one option number choice please i mean meant want would like to it is that s let us thing yes ok okay of'.split(
    ' ',
  ),
)
/** "one" by itself is a number; "that one" has no meaning. */
const ONE = /^((option|number|choice) )?one$/
const NONE = new Set('no none neither nothing not them these those nor'.split(' '))
const PLACES = new Map(
  [
    ['1', 'first', '1st', 'former'],
    ['2', 'second', '2nd', 'two'],
    ['3', 'third', '3rd', 'three'],
    ['4', 'fourth', '4th', 'four'],
  ].flatMap((names, index) => names.map((name) => [name, index + 1] as const)),
)
