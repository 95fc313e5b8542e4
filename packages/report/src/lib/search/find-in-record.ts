import { type Completion, isMatchRecord, type SealedRecord } from '@episodic/protocol'
import type { SearchField } from '../view/search-hit.ts'

/** Where a searched text stands in a line, with what stands around it. */
export interface FoundText {
  /** From 0; `null` for what belongs to no step. */
  readonly step: number | null
  readonly field: SearchField
  readonly before: string
  readonly match: string
  readonly after: string
}

/** Characters shown before and after a match. */
const CONTEXT = 80

/**
 * Finds a text in what was asked, thought, said, called and answered in an episode, in upper and lower case, in the order of
 * the steps. Nothing is found for an empty text.
 *
 * @param fields - where to search. Default: everywhere.
 */
export function* findInRecord(
  record: SealedRecord,
  text: string,
  fields?: readonly SearchField[],
): Generator<FoundText> {
  if (text === '') return
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'), 'gi')
  for (const { step, field, content } of textsOf(record)) {
    if (fields && !fields.includes(field)) continue
    for (const { 0: match, index } of content.matchAll(pattern)) {
      const end = index + match.length
      const before = content.slice(Math.max(0, index - CONTEXT), index).toWellFormed()
      yield { step, field, before, match, after: content.slice(end, end + CONTEXT).toWellFormed() }
    }
  }
}

interface FieldText {
  readonly step: number | null
  readonly field: SearchField
  readonly content: string
}

function* textsOf(record: SealedRecord): Generator<FieldText> {
  yield { step: null, field: 'prompt', content: record.task.prompt }
  const starts = isMatchRecord(record) ? Object.values(record.seats).map(({ start }) => start) : [record.start]
  for (const start of starts) if (start) yield { step: null, field: 'answer', content: start.observation.text }
  for (const [step, { action, observation, completions = [] }] of record.steps.entries()) {
    for (const completion of completions) yield* textsOfAnswer(completion, step)
    yield { step, field: 'call', content: `${action.tool}(${JSON.stringify(action.arguments)})` }
    yield { step, field: 'answer', content: observation.text }
    if (observation.structured !== null)
      yield { step, field: 'answer', content: JSON.stringify(observation.structured) }
  }
  for (const completion of record.undecided ?? []) yield* textsOfAnswer(completion, null)
  const { outcome } = record
  if (outcome.kind === 'failed')
    yield { step: null, field: 'failure', content: `${outcome.error.code}: ${outcome.error.message}` }
}

function* textsOfAnswer({ text, reasoning, calls = [] }: Completion, step: number | null): Generator<FieldText> {
  if (reasoning) yield { step, field: 'reasoning', content: reasoning }
  if (text) yield { step, field: 'text', content: text }
  // The call that was played is that of the step.
  for (const { name, arguments: input, played } of calls)
    if (!played) yield { step, field: 'call', content: `${name}(${input})` }
}
