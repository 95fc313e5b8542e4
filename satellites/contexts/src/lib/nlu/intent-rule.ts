import { ContextError } from '../model/context-error.ts'
import type { Entity } from './entity.ts'
import { plain, wordsOf } from './utterance.ts'

export interface SlotRule {
  readonly entity: Entity
  /** Words directly before the value, such as `from`. A slot with such words takes no value without them. */
  readonly after?: readonly string[]
  /** Words directly after the value, for example `passengers`. */
  readonly before?: readonly string[]
  /**
   * Words beside which an unknown phrase is reported as unrecognised: the Berlin of "from Berlin", if no flight leaves
   * there. Default: `after` and `before`. Name fewer if a word stands before other things too, for example `for`.
   */
  readonly reports?: { readonly after?: readonly string[]; readonly before?: readonly string[] }
}

export interface IntentRule {
  /**
   * Phrases of the intent in compromise's match syntax. Useful here are words, `(one|other)`, `optional?`, `.` for any
   * word and `*` for any number of words; contractions and accents do not matter. Left out, naming one of its slots
   * states the intent.
   */
  readonly phrases?: readonly string[]
  /** Phrases that may stand beside its slots and mean nothing alone, such as `make it`. Same syntax. Default: none. */
  readonly beside?: readonly string[]
  readonly slots?: { readonly [slot: string]: SlotRule }
  readonly needs?: readonly string[]
}

/** The rules of a conversation, by the name of the intent. */
export type Rules = { readonly [intent: string]: IntentRule }

export interface CompiledRule {
  readonly name: string
  readonly phrases: readonly string[]
  readonly beside: readonly string[]
  readonly slots: readonly (SlotRule & { readonly slot: string; readonly cues: Cues; readonly unknownCues: Cues })[]
  readonly needs: readonly string[]
  readonly words: readonly string[]
}

export type Cues = { readonly after: readonly string[][]; readonly before: readonly string[][] } | null

export function compileRule(
  name: string,
  { phrases = [], beside = [], slots = {}, needs = [] }: IntentRule,
): CompiledRule {
  if (phrases.length === 0 && Object.keys(slots).length === 0)
    throw new ContextError(
      'definition-invalid',
      `The rule of "${name}" never applies: give it phrases that say it, or slots that are named.`,
    )
  const missing = needs.filter((slot) => !Object.hasOwn(slots, slot))
  if (missing.length > 0)
    throw new ContextError(
      'definition-invalid',
      `The rule of "${name}" needs ${missing.join(', ')}, and has slots ${Object.keys(slots).join(', ')}.`,
    )
  const wordless = [...phrases, ...beside].find((phrase) => wordsOf(phrase).length === 0)
  if (wordless !== undefined)
    throw new ContextError('definition-invalid', `The phrase "${wordless}" of "${name}" has no word in it.`)
  for (const [slot, rule] of Object.entries(slots)) assertEntity(name, slot, rule?.entity)
  const compiled = Object.entries(slots).map(([slot, rule]) => {
    return { slot, ...rule, cues: cuesOf(rule), unknownCues: cuesOf(rule.reports ?? rule) }
  })
  return {
    name,
    phrases: phrases.map(expandContractions),
    beside: beside.map(expandContractions),
    // Slots with cues are filled first; the remaining values go to slots without.
    slots: compiled.toSorted((a, b) => Number(a.cues === null) - Number(b.cues === null)),
    needs,
    words: [
      ...[...phrases, ...beside].flatMap(wordsOf),
      ...compiled.flatMap(({ cues }) => (cues ? [...cues.after, ...cues.before].flat() : [])),
    ].map(plain),
  }
}

function assertEntity(intent: string, slot: string, entity: unknown): void {
  if (typeof entity === 'object' && entity !== null && 'find' in entity && 'words' in entity) return
  const given = typeof entity === 'function' ? `the function ${entity.name || 'without a name'}` : String(entity)
  const call = typeof entity === 'function' ? `: call it, as in ${CALLS[entity.name] ?? `${entity.name}(…)`}` : ''
  throw new ContextError(
    'definition-invalid',
    `The entity of the slot "${slot}" of "${intent}" is ${given}, and has to be an entity${call}.`,
  )
}

const CALLS: Readonly<Record<string, string>> = {
  wholeNumber: 'wholeNumber({ least: 1, most: 9 })',
  oneOf: "oneOf({ DXB: ['Dubai'] })",
  day: 'day()',
  yesOrNo: 'yesOrNo()',
}

function cuesOf({ after = [], before = [] }: Pick<SlotRule, 'after' | 'before'>): Cues {
  return after.length + before.length > 0 ? { after: after.map(wordsOf), before: before.map(wordsOf) } : null
}

function expandContractions(phrase: string): string {
  return phrase.replace(/[\p{L}\p{N}'’]+/gu, (written) => wordsOf(written).join(' '))
}
