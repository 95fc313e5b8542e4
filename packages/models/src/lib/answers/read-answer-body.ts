import { isObject } from '@episodic/protocol/internal'
import { answerOfMalformedCall, endsMalformed } from './malformed-call.ts'
import { createStreamedAnswer } from './streamed-answer.ts'

export type AnswerBody =
  | { readonly kind: 'answer'; readonly value: unknown }
  /**
   * The server says that it has no answer. Its own status and code are `null` if it names none. If it could not read
   * what the model wrote, `answer` is an answer with that.
   */
  | {
      readonly kind: 'error'
      readonly status: number | null
      readonly code: string | null
      readonly words: string
      readonly answer?: object
    }
  /** The connection broke before the end of its JSON. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed'; readonly fault: string }
  /** A page, a stream of other events, or nothing. */
  | { readonly kind: 'other' }

/**
 * Reads a body. Its content type does not count: some servers send JSON as `text/plain` or without a type. Numbers that
 * JSON does not have, `NaN`, `Infinity` and `-Infinity`, are read as `null`: Python writes them.
 */
export function readAnswerBody(body: string): AnswerBody {
  // A byte order mark is white space here too.
  const text = body.trim()
  if (/^[{[]/.test(text)) return readJson(text)
  // Some servers stream whatever is asked for.
  const stream = createStreamedAnswer()
  stream.add(`${text}\n\n`)
  if (stream.failure) return errorOf(stream.failure, stream.failure.error)
  if (!stream.hasBegun) return { kind: 'other' }
  if (!stream.isComplete) return { kind: 'incomplete' }
  return findAnswerError(stream.value) ?? { kind: 'answer', value: stream.value }
}

function readJson(text: string): AnswerBody {
  const { value: json, fault } = parsed(text)
  // Gemini sends an error as the only item of a list.
  const value = Array.isArray(json) ? json[0] : json
  if (fault === undefined) return findAnswerError(value) ?? { kind: 'answer', value }
  // The place of the fault is the end of the text, which the engine says in these two ways.
  const isAtEnd = /end of JSON input/.test(fault) || Number(/position (\d+)/.exec(fault)?.[1]) >= text.length
  return isAtEnd ? { kind: 'incomplete' } : { kind: 'malformed', fault }
}

function parsed(text: string): { readonly value?: unknown; readonly fault?: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    const plain = text.replace(NOT_FINITE, (found) => (found.startsWith('"') ? found : 'null'))
    if (plain === text) return { fault: (error as Error).message }
    try {
      return { value: JSON.parse(plain) }
    } catch {
      return { fault: (error as Error).message }
    }
  }
}

/** Texts, which are skipped, and numbers that are no JSON. */
const NOT_FINITE = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\bInfinity\b|\bNaN\b/gs

/** Ends of an answer that its server, and not its model, has caused. */
const FAILED: ReadonlySet<string> = new Set(['error', 'abort', 'network_error', 'insufficient_system_resource'])

/**
 * Returns what a server says in place of an answer; `null` if there is an answer. Servers and gateways write it in many
 * ways: as `error` of the body or of its choice, as `base_resp` with a status (MiniMax), as `detail` (FastAPI), as
 * `message` (vLLM and Mistral, with `object: "error"`), or as no choice at all.
 */
export function findAnswerError(body: unknown): Extract<AnswerBody, { kind: 'error' }> | null {
  if (!isObject(body)) return errorOf({}, body)
  const [first] = Array.isArray(body.choices) ? body.choices : []
  const choice = isObject(first) ? first : undefined
  const refusal = isObject(body.base_resp) && body.base_resp.status_code !== 0 ? body.base_resp : undefined
  const errors = Array.isArray(body.errors) ? body.errors[0] : undefined
  if (choice && endsMalformed(choice)) return null
  const said = [body.error, choice?.error, errors, refusal].find(isSaid)
  if (said !== undefined) return errorOf(body, said)
  if (!choice) return errorOf(body, undefined)
  const { finish_reason: finish } = choice
  return typeof finish === 'string' && FAILED.has(finish)
    ? errorOf({}, `The answer ended with finish_reason "${finish}".`)
    : null
}

function isSaid(value: unknown): boolean {
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value)
}

function errorOf(body: object, said: unknown): Extract<AnswerBody, { kind: 'error' }> {
  const fields = { ...body, ...(isObject(said) && said) } as Record<string, unknown>
  const code = [fields.code, fields.type, fields.status].find((name) => typeof name === 'string') ?? null
  const words = wordsOf(fields, said)
  const answer = answerOfMalformedCall(fields, words)
  return { kind: 'error', status: statusOf(fields), code: code as string | null, words, ...(answer && { answer }) }
}

const WORDS = ['message', 'msg', 'status_msg', 'error_msg', 'error_message', 'detail', 'title']

function wordsOf(fields: Readonly<Record<string, unknown>>, said: unknown): string {
  if (typeof said === 'string') return said
  const words = WORDS.map((name) => fields[name]).find(isSaid)
  if (words === undefined)
    return said === undefined ? `The answer has no choice: ${JSON.stringify(fields)}` : JSON.stringify(said)
  const text = typeof words === 'string' ? words : JSON.stringify(words)
  // A gateway such as OpenRouter quotes here what the server behind it has said.
  const raw = isObject(fields.metadata) ? fields.metadata.raw : undefined
  return typeof raw === 'string' ? `${text} (${raw})` : text
}

/** Statuses by the numbers of MiniMax. */
const NUMBERS: Readonly<Record<number, number>> = { 1002: 429, 1004: 401, 1008: 402, 1039: 429, 2013: 400, 2049: 401 }
/** Statuses by the names of errors, the first that fits. */
const NAMES: readonly (readonly [name: RegExp, status: number])[] = [
  [/unauthenticated|unauthorized|authentication|invalid_api_key/, 401],
  [/insufficient_(balance|credit|fund)|payment_required|billing/, 402],
  [/permission|forbidden/, 403],
  [/insufficient_quota|rate_limit|resource_exhausted|too_many_requests|throttl/, 429],
  [/not_found/, 404],
  [/request_too_large/, 413],
  [/overloaded/, 529],
  [/invalid_request|invalid_argument|context_length/, 400],
]

function statusOf(fields: Readonly<Record<string, unknown>>): number | null {
  for (const name of ['status', 'code', 'status_code', 'statusCode', 'http_status', 'error_code']) {
    const number = Number(fields[name] ?? Number.NaN)
    const status = NUMBERS[number] ?? number
    if (Number.isInteger(status) && status >= 400 && status < 600) return status
  }
  const names = [fields.code, fields.type, fields.status].join(' ').toLowerCase().replace(/[ -]/g, '_')
  return NAMES.find(([name]) => name.test(names))?.[1] ?? null
}
