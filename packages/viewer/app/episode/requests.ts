import {
  type Completion,
  type EpisodeRecord,
  isMatchRecord,
  type JsonObject,
  requestsOf,
  type SealedRecord,
  type Transcript,
} from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report'

/** A message of a request. */
export interface SentMessage {
  /** Its place in the pool of the transcript: equal for the same message in several requests. */
  readonly id: number
  readonly message: JsonObject
  /** `sent`: it was in the request. `new`: and in none before. `left-out`: it was in one before, and is not in this one. */
  readonly state: 'sent' | 'new' | 'left-out'
  /** Whether it is an answer of the model or a result of a step, which stand elsewhere in the episode too. */
  readonly repeats: 'completion' | 'step' | null
}

/** What a model was sent for one answer. */
export interface SentRequest {
  /** In their order, with those that were left out in the places that they had. */
  readonly messages: readonly SentMessage[]
  readonly tools: readonly JsonObject[]
}

/** An answer of a model, with what it was sent. */
export interface AnsweredRequest {
  readonly completion: Completion
  /** The seat that asked; `null` if there is one seat. */
  readonly seat: string | null
  /** From 0, of all steps; `null` for an answer that led to none. */
  readonly step: number | null
  /** `null` if it was not recorded. */
  readonly request: SentRequest | null
}

/** Returns the answers of the models of all seats, in their order, with what each was sent. */
export function answersOf(record: SealedRecord): AnsweredRequest[] {
  const requests = new Map<Completion, SentRequest | null>()
  const seats = isMatchRecord(record) ? Object.keys(record.seats) : [undefined]
  for (const seat of seats)
    for (const [completion, request] of sentOf(seatRecordOf(record, seat)))
      if (request !== null || !requests.has(completion)) requests.set(completion, request)
  const answers = record.steps.flatMap((step, index) =>
    (step.completions ?? []).map((completion) => ({
      completion,
      seat: 'seat' in step ? step.seat : null,
      step: index,
    })),
  )
  const failed = isMatchRecord(record) && record.outcome.kind === 'failed' ? record.outcome.seat : null
  const undecided = (record.undecided ?? []).map((completion) => ({ completion, seat: failed, step: null }))
  return [...answers, ...undecided].map((answer) => ({ ...answer, request: requests.get(answer.completion) ?? null }))
}

/** Returns who recorded what models were sent; `null` if it was not recorded. */
export function recorderOf(record: SealedRecord): Transcript['by'] | null {
  if (!isMatchRecord(record)) return record.transcript?.by ?? null
  return Object.values(record.seats).find(({ transcript }) => transcript)?.transcript?.by ?? null
}

function sentOf(episode: EpisodeRecord): [Completion, SentRequest | null][] {
  const completions = [...episode.steps.flatMap(({ completions: some = [] }) => some), ...(episode.undecided ?? [])]
  const requests = requestsOf(episode)
  /** All that was sent so far, by its place in the pool. */
  const known = new Map<number, JsonObject>()
  return completions.map((completion, i) => {
    const request = requests[i]
    const ids = completion.prompt?.messages.flatMap(([from, to]) =>
      Array.from({ length: to - from }, (_, at) => from + at),
    )
    if (!request || !ids) return [completion, null]
    const messages = request.messages.map((message, at): SentMessage => {
      const id = ids[at] as number
      return { id, message, state: known.has(id) ? 'sent' : 'new', repeats: repeatsOf(episode.transcript, id) }
    })
    const all = withLeftOut(messages, known, episode.transcript)
    for (const { id, message } of messages) known.set(id, message)
    return [completion, { messages: all, tools: request.tools }]
  })
}

/** Adds the messages of earlier requests that are not in this one, each before the first that came after it. */
function withLeftOut(
  messages: readonly SentMessage[],
  known: ReadonlyMap<number, JsonObject>,
  transcript: Transcript | undefined,
): SentMessage[] {
  const sent = new Set(messages.map(({ id }) => id))
  const leftOut = [...known]
    .filter(([id]) => !sent.has(id))
    .map(([id, message]) => ({ id, message, state: 'left-out' as const, repeats: repeatsOf(transcript, id) }))
  if (leftOut.length === 0) return [...messages]
  const all: SentMessage[] = []
  let next = 0
  for (const message of messages) {
    for (let out = leftOut[next]; out && out.id < message.id; out = leftOut[++next]) all.push(out)
    all.push(message)
  }
  return [...all, ...leftOut.slice(next)]
}

function repeatsOf(transcript: Transcript | undefined, id: number): SentMessage['repeats'] {
  const entry = transcript?.messages[id]
  if (!entry || !('from' in entry) || 'role' in entry) return null
  return entry.from === 'step' ? 'step' : 'completion'
}
