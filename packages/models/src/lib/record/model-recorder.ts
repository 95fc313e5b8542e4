import { hash } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import type { ModelRequest } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/internal'
import { jsonOf } from '@episodic/run/base/json'
import type { Answer } from '../answers/parse-answer.ts'
import type { AnswerBody, RecordedApi } from '../apis/recorded-api.ts'
import type { Prices } from '../model-options.ts'
import { type Try, timesOf } from '../requests/tries.ts'
import { AnswerLog, type TimedAnswer } from './answer-log.ts'

export type ModelRecorder = ReturnType<typeof createModelRecorder>
export type RecordedRequest = NonNullable<ReturnType<ModelRecorder['begin']>>

/** Most bytes of one answer that is recorded. */
const LARGEST_ANSWER = 16 * 1024 ** 2
/** Most requests of one episode that are recorded, failed ones included. */
const MOST_REQUESTS = 10_000

interface Unanswered {
  readonly asked: string
  readonly request: ModelRequest | undefined
  readonly tries: Try[]
}

/**
 * Creates what keeps what a program asked of language models in one episode, and what they answered: up to 10,000
 * requests, and answers of up to 16 MiB.
 */
export function createModelRecorder(prices: Prices | null) {
  const log = new AnswerLog()
  /** By the hash of their body: a program that tries again sends the same. */
  const unanswered = new Map<string, Unanswered>()
  let requests = 0

  return {
    /**
     * Begins to record a request of an API, which ends with `fail`, `answer`, or the end of what is received. Returns
     * `null` for a body that is none, and for the requests of a program that has made too many.
     *
     * @param value - the JSON of the body.
     */
    begin(api: RecordedApi, body: Buffer, value: unknown) {
      const read = api.readRequest(value)
      if (!read || requests >= MOST_REQUESTS) return null
      requests += 1
      const { asked, request: _, ...rest } = read
      const request = log.share(read.request)
      const key = hash('sha256', body)
      const sent = monotonic()

      const fail = (status: number | null, code: string) => {
        const failed = { sent, answered: monotonic(), failure: { status, code } }
        const same = unanswered.get(key)
        if (same) same.tries.push(failed)
        else unanswered.set(key, { asked, request, tries: [failed] })
      }
      const record = ({ completion, calls }: Answer) => {
        const ended = monotonic()
        const tries = [...(unanswered.get(key)?.tries ?? []), { sent, answered: ended, failure: null }]
        unanswered.delete(key)
        const answer = {
          ...completion,
          asked,
          ...rest,
          ...(calls.length > 0 && { calls: calls.map((call) => ({ ...call, played: false })) }),
          ...timesOf(tries, 0),
        }
        log.add({ ...answer, ...(request && { request }) }, ended)
      }

      return {
        fail,
        answer: record,
        receive(isStream: boolean) {
          const said = isStream ? api.createStream() : createJsonBody()
          const decoder = new StringDecoder('utf8')
          let bytes = 0
          const finish = (failure: string, answer: () => unknown) => {
            if (bytes > LARGEST_ANSWER) return fail(null, 'too-large')
            said.add(decoder.end())
            const value = answer()
            const parsed = api.parse(value, prices)
            if (parsed) record(parsed)
            else if (value === null) fail(null, failure)
            else fail(200, 'error')
          }
          return {
            add(part: Buffer) {
              bytes += part.length
              if (bytes <= LARGEST_ANSWER) said.add(decoder.write(part))
            },
            end: () => finish('incomplete', said.whole),
            /** Records what a program received before it closed the connection, if that is part of an answer. */
            leave: () => finish('aborted', said.part),
          }
        },
      }
    },
    /**
     * Returns the answers in the order in which they ended. A request that was never answered is among them, as a
     * completion without text, tokens and time, with its failed `tries`.
     */
    answers(): readonly TimedAnswer[] {
      const failed = [...unanswered.values()].map(({ asked, request, tries }): TimedAnswer => {
        const nothing = { model: asked, promptTokens: 0, completionTokens: 0, cost: null, text: null }
        const answer = { ...nothing, asked, ...timesOf(tries, 0), ...(request && { request }) }
        return { answer, ended: (tries.at(-1) as Try).answered }
      })
      return [...log.answers, ...failed].toSorted((a, b) => a.ended - b.ended)
    },
  }
}

function createJsonBody(): AnswerBody {
  let text = ''
  return {
    add(part) {
      text += part
    },
    whole: () => jsonOf(text),
    part: () => null,
  }
}
