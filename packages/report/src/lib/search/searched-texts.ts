import { isMatchRecord, type JsonObject, type SealedRecord } from '@episodic/protocol'
import type { SearchField } from '../view/search-hit.ts'

export interface SearchedText {
  readonly field: SearchField
  readonly step: number | null
  readonly text: string
}

/** Yields the texts of a line that are searched: what was asked, seen, thought, said, called, and why it failed. */
export function* searchedTexts(record: SealedRecord): Generator<SearchedText, void, undefined> {
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
