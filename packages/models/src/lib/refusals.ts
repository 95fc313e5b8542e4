import { shorten } from '@episodic/protocol/internal'
import { cleanText } from '@episodic/report/text/format'
import { HarnessError, type HarnessErrorCode } from '@episodic/run/base/harness-error'
import { readAnswerBody } from './answers/read-answer-body.ts'
import { nameStatus } from './requests/http-status.ts'
import { codeOf, type Try } from './requests/tries.ts'

/** Who was asked, as messages name it: `model m at 127.0.0.1:8000`, and the variable of its key. */
export interface AskedServer {
  readonly where: string
  readonly keyName: string
}

interface Reply {
  /** As it counts: an error in the body of a status 200 has its own, or 502. `null` if no whole answer came. */
  readonly status: number | null
  readonly body: string
  readonly code: string | null
  readonly isRetried: boolean
  /** Milliseconds after which the server wants to be asked again, if it says so. */
  readonly after: number | null
  readonly failure: NonNullable<Try['failure']>
}

/** Why a request has no answer, and what to do. */
export class NoAnswer extends HarnessError {
  readonly reply: Reply

  /** The server's message is recorded and reported, so it is shortened. The request is never included. */
  constructor(code: HarnessErrorCode, [words, said, advice]: readonly string[], reply: Reply, options?: ErrorOptions) {
    const message = `${words} ${cleanText(shorten(said ?? '', 300)).trim()}`
    super(code, advice ? `${message.replace(/\.?$/, '.')} ${advice}` : message, options)
    this.reply = reply
  }
}

/** Returns the answer in what a server sent. Throws {@link NoAnswer}, and if the JSON of an answer has no end. */
export function readReply({ ok, status, headers }: Response, body: string, { where, keyName }: AskedServer): unknown {
  const read = readAnswerBody(body)
  if (read.kind === 'error' && read.answer) return read.answer
  if (ok && read.kind === 'answer') return read.value
  if (ok && read.kind === 'incomplete')
    throw Object.assign(new Error('The answer ended before its JSON did.'), { code: 'incomplete' })
  const error = read.kind === 'error' ? read : null
  const counted = ok ? (error?.status ?? 502) : status
  const isSpent = counted === 429 && SPENT_WORDS.test(body)
  const should = isSpent || (ok && read.kind === 'malformed') ? 'false' : headers.get('x-should-retry')
  const reply = {
    status: counted,
    body,
    code: error?.code ?? null,
    isRetried: should === 'true' || (should !== 'false' && (isPassing(counted) || counted === 409)),
    after: retryAfter(headers),
    failure: ok ? { status: 200, code: 'error' } : { status, code: 'http' },
  }
  const text = body.trim()
  if (ok && !error) {
    // A gateway may send a page for a moment, so it is retried.
    const said =
      read.kind === 'malformed'
        ? `sent an answer that is no JSON: ${read.fault}`
        : `speaks another API: ${text || 'its answer is empty'}`
    throw new NoAnswer('model-refused', [`The server of the ${where}`, said, OTHER_API], reply)
  }
  const named = ok && error?.status === null ? nameStatus(200) : nameStatus(counted, ok)
  const advice = (isSpent ? SPENT : ADVICE[counted])?.replace('KEY', keyName)
  const code = advice ? 'model-refused' : isPassing(counted) ? 'model-unavailable' : 'policy-failed'
  const said = error?.words ?? (text || 'It gives no reason.')
  throw new NoAnswer(code, [`The ${where} did not answer${named}:`, said, advice ?? ''], reply)
}

/** Returns the failure of a request without a whole answer. @param isLate - whether its time was over. */
export function lostConnection(cause: unknown, isLate: boolean, { where }: AskedServer): NoAnswer {
  const isTimeout = isLate || /timed? ?out/i.test(`${cause} ${(cause as Error).cause}`)
  const said = isTimeout ? 'Request timed out. If its answers take longer, raise modelTimeout.' : rootOf(cause)
  const failure = { status: null, code: isLate ? 'timeout' : codeOf(cause) }
  const reply = { status: null, body: '', code: null, isRetried: true, after: null, failure }
  return new NoAnswer('model-unavailable', [`The ${where} did not answer:`, said], reply, { cause })
}

/**
 * Whether another try may be answered: too many requests, or a fault of the server. A gateway answers with 424 while
 * its model is loading, with 499 if that is gone, and with 425 if it was asked too early.
 */
function isPassing(status: number): boolean {
  return status >= 500 || [408, 424, 425, 429, 499].includes(status)
}

function retryAfter(headers: Headers): number | null {
  const exact = headers.get('retry-after-ms')
  const given = exact ?? headers.get('retry-after')
  if (given === null) return null
  const number = Number(given) * (exact === null ? 1_000 : 1)
  const milliseconds = Number.isNaN(number) ? Date.parse(given) - Date.now() : number
  return milliseconds >= 0 ? milliseconds : null
}

/** The message of the root cause: `fetch` reports every failure of the network as one of its own. */
function rootOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? rootOf(error.cause) : error.message
}

/** A quota of money, of a day or of a month, which is not what an account of another kind would unlock. */
const SPENT_WORDS =
  /insufficient_quota|(?<!unlock\b[^.]*)per[ _-]?(?:day|month)|\b(?:daily|monthly)\b|\((?:TPD|RPD)\)|ByDay\b/i

const OTHER_API = 'Check --base-url: it often ends in /v1.'
const SPENT = 'The quota of the key in KEY is spent: raise it, or go on once it is renewed.'
const REJECTED =
  'Check the options of the model, such as --temperature, --max-tokens and modelOption, the length of its context, and the tools: those of an MCP server are chosen with onlyTools, or with tools: { only, hide, rename, describe } in its world file.'

/** What to do about refusals that a retry does not change. KEY stands for the name of the variable of the key. */
const ADVICE: Readonly<Record<number, string>> = {
  400: REJECTED,
  401: 'Check the key in KEY.',
  402: SPENT,
  403: 'Check the key in KEY, and that it may use this model.',
  404: 'Check the name of the model, and --base-url, which often ends in /v1.',
  422: REJECTED,
}
