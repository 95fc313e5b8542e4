import type { Completion, EpisodeRecord, JsonObject, SealedRecord, Transcript } from '@episodic/protocol'
import { isMatchRecord, requestsOf } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import { seatRecordOf } from '@episodic/report/seats/seat-record'

export interface SentMessage {
  /** Its place in the pool of the transcript: equal for the same message in several requests. */
  readonly id: number
  readonly message: JsonObject
  /** `sent`: in the request. `new`: and in none before. `left-out`: in one before, and not in this one. */
  readonly state: 'sent' | 'new' | 'left-out'
}

export interface SentRequest {
  /** In their order, with those that were left out in the places that they had. */
  readonly messages: readonly SentMessage[]
  readonly tools: readonly JsonObject[]
}

export interface AnsweredRequest {
  readonly completion: Completion
  /** The seat that asked; `null` if there is one seat. */
  readonly seat: string | null
  /** From 0, of all steps; `null` for an answer that led to none. */
  readonly step: number | null
  /** The messages that are new and stand nowhere else in the episode. `null` if the request was not recorded. */
  readonly added: readonly SentMessage[] | null
}

export function answersOf(record: SealedRecord): AnsweredRequest[] {
  const added = new Map<Completion, readonly SentMessage[]>()
  for (const episode of playsOf(record)) {
    const known = new Set<number>()
    for (const completion of completionsOf(episode))
      if (completion.prompt && episode.transcript) added.set(completion, takeIn(completion, episode.transcript, known))
  }
  const answers = record.steps.flatMap((step, index) =>
    (step.completions ?? []).map((completion) => ({
      completion,
      seat: 'seat' in step ? step.seat : null,
      step: index,
    })),
  )
  const failed = isMatchRecord(record) && record.outcome.kind === 'failed' ? record.outcome.seat : null
  const undecided = (record.undecided ?? []).map((completion) => ({ completion, seat: failed, step: null }))
  return [...answers, ...undecided].map((answer) => ({ ...answer, added: added.get(answer.completion) ?? null }))
}

/** With what it was sent before and not this time, in its place. `null` if the request was not recorded. */
export function sentRequest(record: SealedRecord, completion: Completion): SentRequest | null {
  const { prompt } = completion
  const episode = playsOf(record).find((play) => completionsOf(play).includes(completion))
  if (!episode?.transcript || !prompt) return null
  const completions = completionsOf(episode)
  const index = completions.indexOf(completion)
  const known = new Set(completions.slice(0, index).flatMap(idsOf))
  const own = idsOf(completion)
  const ids = [...new Set([...known, ...own])].sort((a, b) => a - b)
  // Only this one is put together: all requests of an episode are as long as the square of their number.
  const only = (other: Completion): Completion => ({
    ...other,
    prompt: other === completion ? { ...prompt, messages: ids.map((id) => [id, id + 1] as const) } : undefined,
  })
  const { steps, undecided, transcript } = episode
  const found = requestsOf({
    transcript,
    steps: steps.map((step) => (step.completions ? { ...step, completions: step.completions.map(only) } : step)),
    undecided: undecided?.map(only),
  })[index]
  if (!found) return null
  const messages = new Map(ids.map((id, i) => [id, found.messages[i] as JsonObject]))
  const sent = own.map((id) => ({
    id,
    message: messages.get(id) as JsonObject,
    state: known.has(id) ? ('sent' as const) : ('new' as const),
  }))
  for (const id of own) messages.delete(id)
  const leftOut = [...messages].map(([id, message]) => ({ id, message, state: 'left-out' as const }))
  return { messages: inPlace(sent, leftOut), tools: found.tools }
}

export function recorderOf(record: SealedRecord): Transcript['by'] | null {
  if (!isMatchRecord(record)) return record.transcript?.by ?? null
  return Object.values(record.seats).find(({ transcript }) => transcript)?.transcript?.by ?? null
}

export function firstTools(record: SealedRecord, completion: Completion): readonly JsonObject[] | null {
  const play = playsOf(record).find((one) => completionsOf(one).includes(completion))
  if (!play?.transcript || !completion.prompt) return null
  const { tools } = play.transcript
  return completion.prompt.tools.flatMap(([from, to]) => tools.slice(from, to))
}

function playsOf(record: SealedRecord): EpisodeRecord[] {
  return isMatchRecord(record) ? Object.keys(record.seats).map((seat) => seatRecordOf(record, seat)) : [record]
}

function idsOf({ prompt }: Completion): number[] {
  return (prompt?.messages ?? []).flatMap(([from, to]) => Array.from({ length: to - from }, (_, at) => from + at))
}

function takeIn({ prompt }: Completion, { messages }: Transcript, known: Set<number>): SentMessage[] {
  const added: SentMessage[] = []
  for (const [from, to] of prompt?.messages ?? [])
    for (let id = from; id < to; id++) {
      if (known.has(id)) continue
      known.add(id)
      const message = messages[id]
      if (message && !('from' in message && !('role' in message)))
        added.push({ id, message: message as JsonObject, state: 'new' })
    }
  return added
}

function inPlace(sent: readonly SentMessage[], leftOut: readonly SentMessage[]): SentMessage[] {
  const all: SentMessage[] = []
  let next = 0
  for (const message of sent) {
    for (let out = leftOut[next]; out && out.id < message.id; out = leftOut[++next]) all.push(out)
    all.push(message)
  }
  return [...all, ...leftOut.slice(next)]
}
