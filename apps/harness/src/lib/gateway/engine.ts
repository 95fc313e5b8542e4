import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { type Answer, parseAnswer } from '../models/answers/parse-answer.ts'
import { findAnswerError, readAnswerBody } from '../models/answers/read-answer-body.ts'
import { TOKEN_OPTIONS } from '../models/messages/handed-tokens.ts'
import type { Prices } from '../models/model-options.ts'
import { type ChatBody, Concessions } from '../models/requests/concessions.ts'
import { readBody } from '../models/requests/request-body.ts'
import { sendRequest } from '../models/requests/send-request.ts'
import { codeOf } from '../models/requests/tries.ts'
import { withOptions } from '../models/requests/with-options.ts'
import { type PlainAnswer, PlainClient } from './plain-client.ts'

/** A server of chat completions that returns the tokens that it read and sampled, such as vLLM or SGLang. */
export type Engine = ReturnType<typeof createEngine>

/** Says that an engine gave no answer. */
export class Refused extends Error {
  /** The HTTP status for the agent: that of the engine, or 502. */
  readonly status: number
  /** As it is recorded: `http`, `error`, `incomplete`, `aborted` or the code of a network error. */
  readonly code: string
  readonly retryAfter: string | undefined

  constructor(status: number, code: string, message: string, retryAfter?: string) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfter = retryAfter
  }
}

export interface EngineOptions {
  /** Root of its API, such as `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string
  /** Default: it needs no key. */
  readonly apiKey?: string | undefined
  /** Fields of every request, in the place of what the agent asked; `null` takes one out. */
  readonly options?: JsonObject
  /** Default: `null`, costs are unknown. */
  readonly prices?: Prices | null
}

/** Most bytes of an answer. */
const LARGEST_ANSWER = 64 * 1024 ** 2
/** How often tokens are sent to a server that ignores them: an agent may change its conversation too. */
const MOST_IGNORED = 8

export function createEngine({ baseUrl, apiKey, options = {}, prices = null }: EngineOptions) {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/chat/completions`)
  const headers = { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) }
  const isSecure = url.protocol === 'https:'
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true })
  /** `null` once an answer was not plain: the next ones of that server will not be either. */
  let plain = isSecure ? null : new PlainClient({ url, headers, largestAnswer: LARGEST_ANSWER })
  const concessions = new Concessions()
  const { host } = url

  let [used, ignored] = [0, 0]

  /** Notes what became of the tokens of a message. */
  function learn({ messages }: ChatBody, { completion }: Answer): void {
    if (used > 0) return
    const handed = messages.findLast((message) => 'generation_token_ids' in message)
    const { promptTokenIds: prompt } = completion
    if (!handed || !prompt) return
    const { prompt_token_ids: before, generation_token_ids: after } = handed as unknown as Record<string, number[]>
    const isUsed = [...(before ?? []), ...(after ?? [])].every((id, at) => id === prompt[at])
    if (isUsed) used += 1
    else ignored += 1
  }

  async function post(text: string, signal: AbortSignal): Promise<PlainAnswer> {
    const asked = plain ? plain.post(text, signal) : sendWith(agent, text, signal)
    const answer = await asked.catch((error: unknown) => {
      const code = signal.aborted ? 'aborted' : codeOf(error)
      if (code === 'incomplete') throw brokeOff()
      throw new Refused(502, code, `The server of the model at ${host} did not answer: ${code}.`)
    })
    if ('body' in answer) return answer
    plain?.[Symbol.dispose]()
    plain = null
    const body = await readBody(answer, LARGEST_ANSWER).catch(() => null)
    if (!body) throw brokeOff()
    return { status: answer.statusCode ?? 502, retryAfter: answer.headers['retry-after'], body }
  }

  function sendWith(agent: HttpAgent, text: string, signal: AbortSignal) {
    const body = Buffer.from(text)
    return sendRequest(url, body, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
      agent,
      signal,
    })
  }

  function brokeOff(): Refused {
    const message = `The answer of the server of the model at ${host} broke off, or is too large.`
    return new Refused(502, 'incomplete', message)
  }

  async function send(body: ChatBody, signal: AbortSignal): Promise<Answer> {
    const { status, retryAfter, body: bytes } = await post(JSON.stringify(body), signal)
    const said = bytes.toString()
    if (status >= 400) throw new Refused(status, 'http', wordsOf(said), retryAfter)
    const read = readAnswerBody(said)
    const parsed = read.kind === 'answer' ? parseAnswer(read.value, prices) : null
    if (parsed) return parsed
    if (read.kind === 'error') throw new Refused(read.status ?? 502, 'error', read.words)
    throw new Refused(502, 'incomplete', `The answer of the server of the model at ${host} is ${read.kind}.`)
  }

  return {
    /** Whether it may begin a prompt with the tokens of a message: it has used some, or ignored few so far. */
    get takesTokens() {
      return used > 0 || ignored < MOST_IGNORED
    },
    /** Asks for one answer with its tokens, as a whole. Rejects with {@link Refused}, and after an abort too. */
    async ask(chat: ChatBody, signal: AbortSignal): Promise<Answer> {
      const wanted = withOptions<ChatBody>(options, { ...chat, ...TOKEN_OPTIONS })
      for (;;) {
        const body = concessions.apply(wanted)
        try {
          const answer = await send(body, signal)
          learn(body, answer)
          return answer
        } catch (error) {
          const isAboutField = error instanceof Refused && (error.status === 400 || error.status === 422)
          if (!isAboutField || concessions.learn(error.message, body) === null) throw error
        }
      }
    },
    [Symbol.dispose]() {
      plain?.[Symbol.dispose]()
      agent.destroy()
    },
  }
}

/** What a server says of a request that it refuses. */
function wordsOf(said: string): string {
  try {
    const value: unknown = JSON.parse(said)
    return findAnswerError(isObject(value) ? value : { message: said })?.words ?? said
  } catch {
    return said
  }
}
