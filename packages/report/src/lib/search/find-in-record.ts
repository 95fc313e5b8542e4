import { isMatchRecord, type JsonObject, type SealedRecord } from '@episodic/protocol'
import type { SearchField } from '../view/search-hit.ts'

const CONTEXT = 80

/**
 * Finds a text in what was asked, thought, said, called and answered in an episode, in upper and lower case, in the
 * order of the steps. Nothing is found for an empty text.
 *
 * @param fields - where to search. Default: everywhere.
 */
export function* findInRecord(record: SealedRecord, text: string, fields?: readonly SearchField[]) {
  if (text === '') return
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'), 'gi')
  for (const { step, field, text: content } of searchedTexts(record)) {
    if (fields && !fields.includes(field)) continue
    for (const { 0: match, index } of content.matchAll(pattern)) {
      const end = index + match.length
      const before = content.slice(Math.max(0, index - CONTEXT), index).toWellFormed()
      yield { step, field, before, match, after: content.slice(end, end + CONTEXT).toWellFormed() }
    }
  }
}

interface SearchedText {
  readonly field: SearchField
  readonly step: number | null
  readonly text: string
}

/** Yields the texts of a line that are searched: what was asked, seen, thought, said, called, and why it failed. */
function* searchedTexts(record: SealedRecord): Generator<SearchedText, void, undefined> {
  const at = (field: SearchField, step: number | null, text: string): SearchedText => ({ field, step, text })
  yield at('prompt', null, record.task.prompt)
  const seats = isMatchRecord(record) ? Object.values(record.seats) : [record]
  for (const { start, transcript, ...seat } of seats) {
    if ('prompt' in seat && seat.prompt !== undefined) yield at('prompt', null, seat.prompt)
    if (start) yield* seenIn(start.observation, null)
    // What the model said and what the environment answered stands in the steps.
    for (const message of transcript?.messages ?? [])
      if ('role' in message && ['system', 'user', 'developer'].includes(String(message.role)))
        for (const text of textsIn(message)) if (text !== record.task.prompt) yield at('prompt', null, text)
  }
  for (const [step, { action, observation, completions = [], events = [] }] of record.steps.entries()) {
    yield* saidIn(completions, step)
    yield at('call', step, `${action.tool} ${JSON.stringify(action.arguments)}`)
    for (const { said, sent = {} } of events)
      for (const text of [...(said === null ? [] : [said]), ...Object.values(sent).flat()])
        yield at('answer', step, text)
    yield* seenIn(observation, step)
  }
  yield* saidIn(record.undecided ?? [], null)
  const { outcome } = record
  if (outcome.kind === 'failed') yield at('failure', null, `${outcome.error.code}: ${outcome.error.message}`)
}

type Observation = SealedRecord['steps'][number]['observation']

function* seenIn({ text, structured }: Observation, step: number | null): Generator<SearchedText, void, undefined> {
  yield { field: 'answer', step, text }
  if (structured !== null) yield { field: 'answer', step, text: JSON.stringify(structured) }
}

type Completions = NonNullable<SealedRecord['undecided']>

function* saidIn(completions: Completions, step: number | null): Generator<SearchedText, void, undefined> {
  for (const { text, reasoning, calls = [] } of completions) {
    if (reasoning !== undefined) yield { field: 'reasoning', step, text: reasoning }
    if (text !== null) yield { field: 'text', step, text }
    // The call that was played is the action of its step.
    for (const call of calls) if (!call.played) yield { field: 'call', step, text: `${call.name} ${call.arguments}` }
  }
}

function textsIn({ content }: JsonObject): string[] {
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return content.flatMap((part) => {
    const { text } = Object(part) as { readonly text?: unknown }
    return typeof text === 'string' ? [text] : []
  })
}
