import { ContextError } from '../model/context-error.ts'
import type { IntentRule, SlotRule } from './intent-rule.ts'
import { plain, wordsOf } from './utterance.ts'

/** A rule as it is applied. */
export interface CompiledRule {
  readonly name: string
  readonly phrases: readonly string[]
  readonly beside: readonly string[]
  readonly slots: readonly (SlotRule & { readonly slot: string; readonly cues: Cues; readonly unknownCues: Cues })[]
  readonly needs: readonly string[]
  /** Every word that stands in its phrases and cues. */
  readonly words: readonly string[]
}

/** Words around a slot, each as the words that it is made of; `null` where it needs none. */
export type Cues = { readonly after: readonly string[][]; readonly before: readonly string[][] } | null

/** Looks up once what a rule needs for every utterance. Throws `definition-invalid` where it can never apply. */
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
    phrases: phrases.map(writtenOut),
    beside: beside.map(writtenOut),
    // What is named with words around it is told apart first, and the rest goes to who asks for none.
    slots: compiled.toSorted((a, b) => Number(a.cues === null) - Number(b.cues === null)),
    needs,
    words: [
      ...[...phrases, ...beside].flatMap(wordsOf),
      ...compiled.flatMap(({ cues }) => (cues ? [...cues.after, ...cues.before].flat() : [])),
    ].map(plain),
  }
}

/** Throws `definition-invalid` for what is no entity, such as `wholeNumber` in place of `wholeNumber({ least: 1, most: 9 })`. */
function assertEntity(intent: string, slot: string, entity: unknown): void {
  if (typeof entity === 'object' && entity !== null && 'find' in entity && 'words' in entity) return
  const given = typeof entity === 'function' ? `the function ${entity.name || 'without a name'}` : String(entity)
  const call = typeof entity === 'function' ? `: call it, as in ${CALLS[entity.name] ?? `${entity.name}(…)`}` : ''
  throw new ContextError(
    'definition-invalid',
    `The entity of the slot "${slot}" of "${intent}" is ${given}, and has to be an entity${call}.`,
  )
}

/** How the entities here are made. */
const CALLS: Readonly<Record<string, string>> = {
  wholeNumber: 'wholeNumber({ least: 1, most: 9 })',
  oneOf: "oneOf({ DXB: ['Dubai'] })",
  day: 'day()',
  yesOrNo: 'yesOrNo()',
}

function cuesOf({ after = [], before = [] }: Pick<SlotRule, 'after' | 'before'>): Cues {
  return after.length + before.length > 0 ? { after: after.map(wordsOf), before: before.map(wordsOf) } : null
}

/** A phrase in the words that an utterance has. */
function writtenOut(phrase: string): string {
  return phrase.replace(/[\p{L}\p{N}'’]+/gu, (written) => wordsOf(written).join(' '))
}
