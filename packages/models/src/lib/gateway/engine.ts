import { Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { JsonObject } from '@episodic/protocol'
import { isObject, toText } from '@episodic/protocol/internal'
import { objectOf } from '@episodic/run/base/json'
import { type Answer, parseAnswer } from '../answers/parse-answer.ts'
import { findAnswerError, readAnswerBody } from '../answers/read-answer-body.ts'
import { TOKEN_OPTIONS } from '../messages/handed-tokens.ts'
import type { Prices } from '../model-options.ts'
import { type ChatBody, Concessions } from '../requests/concessions.ts'
import { sendRequest } from '../requests/send-request.ts'
import { codeOf } from '../requests/tries.ts'
import { withOptions } from '../requests/with-options.ts'
import { findPartial } from '../rollouts/continued-answer.ts'
import { createKeyGuard } from './engine-key.ts'
import { TokenUse } from './token-use.ts'

/** A server of chat completions that returns the tokens that it read and sampled, such as vLLM or SGLang. */
export type Engine = ReturnType<typeof createEngine>

export class Refused extends Error {
  /** The HTTP status for the agent: that of the engine, or 502. */
  readonly status: number
  /** As it is recorded: `http`, `error`, `incomplete`, `aborted` or the code of a network error. */
  readonly code: string
  readonly retryAfter: string | undefined
  /** What the engine had sampled when it ended the answer by itself. */
  readonly partial: Answer | undefined

  constructor(status: number, code: string, message: string, retryAfter?: string, partial?: Answer) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfter = retryAfter
    this.partial = partial
  }
}

export interface EngineOptions {
  /** Root of its API, such as `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string
  readonly apiKey?: string | undefined
  /** Fields of every request, in the place of what the agent asked; `null` takes one out. */
  readonly options?: JsonObject
  /** Default: `null`, costs are unknown. */
  readonly prices?: Prices | null
}

/** Most bytes of an answer. */
const LARGEST_ANSWER = 64 * 1024 ** 2
/** Statuses of a refusal that is about the key. */
const ABOUT_KEY: ReadonlySet<number> = new Set([401, 403, 407])
const RETRY_AFTER = /^(?:\d{1,9}(?:\.\d{1,9})?|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/

export type Asking = ReturnType<Engine['open']>

export function createEngine({ baseUrl, apiKey, options = {}, prices = null }: EngineOptions) {
  const root = baseUrl.replace(/\/+$/, '')
  const headers = { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) }
  const { host, protocol } = new URL(root)
  const agent = new (protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true })
  const tokens = new TokenUse()
  const keyGuard = createKeyGuard(apiKey)
  /** Fields that no concession changes. */
  const fixed = [...Object.keys(options), ...Object.keys(TOKEN_OPTIONS), 'stream']

  async function request(path: string, text: string | null, signal: AbortSignal) {
    const body = Buffer.from(text ?? '')
    const sent = { ...headers, ...(text !== null && { 'content-length': body.length }) }
    const how = { method: text === null ? 'GET' : 'POST', headers: sent, agent, signal }
    const answer = await sendRequest(`${root}/${path}`, body, how).catch((error: unknown) => {
      const code = signal.aborted ? 'aborted' : codeOf(error)
      if (code !== 'aborted') tokens.forget()
      throw new Refused(502, code, `The server of the model at ${host} did not answer: ${code}.`)
    })
    const bytes = await readBody(answer)
    if (!bytes)
      throw new Refused(
        502,
        'incomplete',
        `The answer of the server of the model at ${host} broke off, or is too large.`,
      )
    const { statusCode: status = 502 } = answer
    const said = bytes.toString()
    if (status >= 400) throw refused(status, 'http', wordsOf(said), answer.headers['retry-after'])
    return said
  }

  /** Returns a refusal of the engine as agents may see it: it may quote the key. */
  function refused(status: number, code: string, words: string, retryAfter?: string): Refused {
    const said = ABOUT_KEY.has(status)
      ? `The server of the model at ${host} did not accept the key of this gateway. Tell who runs the gateway.`
      : keyGuard.cleanWords(words)
    return new Refused(status, code, said, retryAfter && RETRY_AFTER.test(retryAfter) ? retryAfter : undefined)
  }

  async function send(body: ChatBody, signal: AbortSignal): Promise<Answer> {
    const said = await request('chat/completions', JSON.stringify(body), signal)
    const read = readAnswerBody(said)
    const parsed = read.kind === 'answer' ? parseAnswer(keyGuard.clean(read.value, said), prices) : null
    if (parsed) return parsed
    if (read.kind === 'error') {
      const { status, code, message } = refused(read.status ?? 502, 'error', read.words)
      throw new Refused(status, code, message, undefined, findPartial(keyGuard.clean(objectOf(said), said), prices))
    }
    throw new Refused(502, 'incomplete', `The answer of the server of the model at ${host} is ${read.kind}.`)
  }

  return {
    takesTokens: (model: string) => tokens.isTaken(model),
    async listModels(signal: AbortSignal): Promise<readonly string[]> {
      const said = await request('models', null, signal)
      const { data } = objectOf(said) ?? {}
      const ids = (Array.isArray(data) ? data : []).flatMap((model) => (isObject(model) ? [toText(model.id)] : []))
      return keyGuard.clean(ids.filter(Boolean), said)
    },
    /** Opens the requests of one agent. What is left out of them because the engine refused it is its own. */
    open() {
      let concessions = new Concessions(fixed)
      const session = {}
      return {
        /** Asks for one answer with its tokens, as a whole. Rejects with {@link Refused}, and after an abort too. */
        async ask(chat: ChatBody, signal: AbortSignal): Promise<Answer> {
          const wanted = withOptions<ChatBody>(options, { ...chat, ...TOKEN_OPTIONS })
          const tried = concessions.copy()
          for (;;) {
            const body = tried.apply(wanted)
            try {
              const answer = await send(body, signal)
              tokens.learn(toText(chat.model), body, answer, session)
              // An answer is the proof that they were what the engine refused.
              concessions = tried
              return answer
            } catch (error) {
              const isAboutField = error instanceof Refused && (error.status === 400 || error.status === 422)
              if (!isAboutField || tried.learn(error.message, body) === null) throw error
            }
          }
        },
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

async function readBody(answer: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = []
  let left = LARGEST_ANSWER
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      left -= part.length
      if (left < 0) return null
      parts.push(part)
    }
    return Buffer.concat(parts)
  } catch {
    return null
  }
}

function wordsOf(said: string): string {
  try {
    const value: unknown = JSON.parse(said)
    return findAnswerError(isObject(value) ? value : { message: said })?.words ?? said
  } catch {
    return said
  }
}
