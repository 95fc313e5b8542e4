import type { ModelAnswer } from '@episodic/env'
import type { JsonObject, ModelRequest, ToolInfo } from '@episodic/protocol'
import { monotonic, shorten, wellFormed } from '@episodic/protocol/internal'
import { cleanText } from '@episodic/report'
import type OpenAI from 'openai'
import type { APIError } from 'openai'
import { HarnessError } from '../base/harness-error.ts'
import { type Answer, parseAnswer } from './answers/parse-answer.ts'
import { readAnswerBody } from './answers/read-answer-body.ts'
import { findServer } from './apis/model-server.ts'
import { temperatureOf } from './apis/recorded-api.ts'
import { type EpisodeJournal, hashRequest } from './journal/model-journal.ts'
import { createModelLimit, type ModelLimit, type ModelRates, untilTurn } from './limits/model-limit.ts'
import { lastTokens, TOKEN_OPTIONS, withoutTokens } from './messages/handed-tokens.ts'
import { withoutMediaData } from './messages/media-parts.ts'
import type { Message } from './messages/transcript.ts'
import type { ModelSettings } from './model-options.ts'
import { createClient, isApiError, isTimeout } from './openai-client.ts'
import { type ChatBody, Concessions } from './requests/concessions.ts'
import { nameStatus } from './requests/http-status.ts'
import { codeOf, type Try, timesOf } from './requests/tries.ts'
import { wireToolsOf } from './requests/wire-tools.ts'
import { withOptions } from './requests/with-options.ts'

export interface ChatModel {
  /**
   * Asks for one answer, unless the journal has it. Retries a request five times if its answer is incomplete, late, no
   * JSON, or 408, 409, 424, 425, 429, 499 or 5xx, with growing pauses or after the server's `retry-after` of up to a
   * minute. After a 429 with `retry-after`, nobody who shares the limit asks for so long. An error in an answer with
   * status 200 counts as the status that it names, and as a 5xx if it names none. A request that is refused because of
   * a field that many servers take is sent once more without it, and so are all that follow; the answers name it in
   * `leftOut`.
   *
   * Rejects with HarnessError `option-invalid` if the package `openai` is not installed; with `model-refused` for 400,
   * 401, 402, 403, 404, 422, a spent quota, and what is not the JSON of this API, none of which a retry changes; with
   * `model-unavailable` if no request is answered; and with `policy-failed` for any other status. After an abort: with
   * the signal's reason.
   */
  ask(question: Question): Promise<Asked>
}

export interface Asked extends Answer {
  readonly request: ModelRequest
  /** Whether the answer is from the journal, and the model was not asked. */
  readonly isKept: boolean
}

export interface Question {
  readonly messages: readonly Message[]
  readonly tools: readonly ToolInfo[]
  /** The sampling seed, if the server supports one. */
  readonly seed: number
  readonly forcedTool?: string | undefined
  /** Whether an answer may have several calls. Default: `true`. */
  readonly parallelCalls?: boolean
  /** Answers that were kept of the same episode. Default: none, and none is kept. */
  readonly journal?: EpisodeJournal | null
  readonly signal?: AbortSignal | undefined
  /** Receives a request that was sent and never answered, before `ask` rejects: with its failed `tries` alone. */
  readonly onUnanswered?: ((request: ModelAnswer) => void) | undefined
}

const NOTHING = { promptTokens: 0, completionTokens: 0, cost: null, text: null } as const

const RETRIES = 5

/**
 * Throws HarnessError `option-invalid` if its server is unknown. @param limit - shared with others who ask. Default:
 * one of its own.
 */
export function createChatModel(
  name: string,
  settings: ModelSettings,
  limit: ModelLimit = createModelLimit(),
): ChatModel {
  const { temperature, maxTokens, modelOption = {}, prices = null, tokenIds, modelTimeout } = settings
  const server = findServer(name, settings)
  const { model, api, baseURL, apiKey, keyName } = server
  let client: OpenAI | null = null
  const turns = turnsOf(limit, `${baseURL} ${model}`, settings)
  const concessions = new Concessions()
  return {
    async ask({ messages, tools, seed, forcedTool, parallelCalls = true, journal = null, signal, onUnanswered }) {
      const wire = wireToolsOf(tools, api)
      const wanted = withOptions(modelOption, {
        model,
        // Observations may come from a server outside, with half of a surrogate pair in them.
        messages: lastTokens(
          messages.map((message) => wire.withWireNames(wellFormed(message as unknown as JsonObject))),
        ),
        tools: wire.functions,
        tool_choice:
          forcedTool === undefined ? 'auto' : { type: 'function', function: { name: wire.wireOf(forcedTool) } },
        ...(!parallelCalls && { parallel_tool_calls: false }),
        seed,
        ...(temperature !== undefined && { temperature }),
        ...(maxTokens !== undefined && { max_tokens: maxTokens }),
        ...(tokenIds && TOKEN_OPTIONS),
      })
      const hash = journal && hashRequest(wanted)
      const kept = hash && journal.take(hash)
      if (kept) return { ...kept, request: sentOf(concessions.apply(wanted)), isKept: true }
      client ??= await createClient({
        baseURL,
        // Local servers need no key, but the client requires one.
        apiKey: apiKey || 'none',
        defaultHeaders: server.headers,
        maxRetries: RETRIES,
        timeout: modelTimeout * 1_000,
      })
      const turn = await turns.wait(sentOf(wanted), signal)
      const tries: Try[] = []
      const asking = client.withOptions({ fetch: recordTries(turns.watch(fetchWhole(server.send, apiKey)), tries) })
      let said: unknown
      let body: ChatBody
      do {
        body = concessions.apply(wanted)
        said = await asking.post('/chat/completions', { body, signal }).catch(async (cause: unknown) => {
          if (!signal?.aborted && isRefusal(cause) && concessions.learn(wordsOf(cause), body) !== null) return null
          await turn.end(0)
          signal?.throwIfAborted()
          // What such a request cost is not known, and that it was sent is.
          if (tries.length > 0)
            onUnanswered?.({ ...NOTHING, asked: name, model, ...timesOf(tries, 0), request: sentOf(body) })
          throw unanswered(name, baseURL, keyName, cause)
        })
      } while (said === null)
      // `fetchWhole` lets nothing else pass.
      const parsed = parseAnswer(said, prices) as Answer
      const { promptTokens, completionTokens } = parsed.completion
      await turn.end(promptTokens + completionTokens)
      const { names: leftOut } = concessions
      const completion = {
        ...parsed.completion,
        asked: name,
        ...temperatureOf(body),
        ...timesOf(tries, turn.waited),
        ...(leftOut.length > 0 && { leftOut }),
      }
      const calls = parsed.calls.map((call) => ({ ...call, name: wire.nameOf(call.name) }))
      const answer = { ...parsed, calls, completion }
      if (hash) await journal.add(hash, answer)
      return { ...answer, request: sentOf(body), isKept: false }
    },
  }
}

function sentOf({ messages, tools }: ChatBody): ModelRequest {
  return {
    messages: messages.map((message) => withoutMediaData(withoutTokens(message))),
    tools: tools as unknown as JsonObject[],
  }
}

function isRefusal(cause: unknown): cause is APIError {
  return isApiError(cause) && (cause.status === 400 || cause.status === 422)
}

function wordsOf({ message, error }: APIError): string {
  return `${message} ${JSON.stringify(error ?? {})}`
}

function turnsOf(limit: ModelLimit, model: string, settings: ModelSettings) {
  const { requestsPerMinute = null, tokensPerMinute = null, maxTokens = 0 } = settings
  const rates: ModelRates = { requestsPerMinute, tokensPerMinute }
  return {
    async wait(request: object, signal: AbortSignal | undefined) {
      const begun = monotonic()
      const estimate =
        tokensPerMinute === null ? 0 : Math.ceil(JSON.stringify(request).length / TOKEN_LENGTH) + maxTokens
      await untilTurn(limit, model, rates, estimate, signal)
      const isLimited = requestsPerMinute !== null || tokensPerMinute !== null
      return {
        waited: isLimited ? monotonic() - begun : 0,
        /** Counts the tokens that it had, 0 if it was not answered, instead of the estimate. */
        // Some servers count no tokens. The estimate is better than nothing.
        end: (tokens: number) => limit.correct(model, rates, tokens === 0 ? 0 : tokens - estimate),
      }
    },
    /** Returns a `fetch` that counts retries, and pauses everybody when the server asks for it. */
    watch(send: typeof fetch): typeof fetch {
      let isRetry = false
      return async (request, init) => {
        // The client has waited as the server asked, so a retry takes a turn without waiting for it.
        if (isRetry) await limit.reserve(model, { requestsPerMinute, tokensPerMinute: null }, 0)
        isRetry = true
        const response = await send(request, init)
        const milliseconds = response.status === 429 ? retryAfter(response.headers) : null
        if (milliseconds !== null) await limit.pause(model, Math.min(milliseconds, LONGEST_PAUSE))
        return response
      }
    },
  }
}

/** Characters of JSON that are about one token. */
const TOKEN_LENGTH = 4
/** Milliseconds. The client waits no longer either. */
const LONGEST_PAUSE = 60_000

function retryAfter(headers: Headers): number | null {
  const exact = headers.get('retry-after-ms')
  const given = headers.get('retry-after')
  if (headers.get('x-should-retry') === 'false' || (exact ?? given) === null) return null
  const seconds = Number(given)
  const milliseconds =
    exact !== null ? Number(exact) : Number.isNaN(seconds) ? Date.parse(String(given)) - Date.now() : seconds * 1_000
  return milliseconds > 0 ? milliseconds : null
}

function recordTries(send: typeof fetch, tries: Try[]): typeof fetch {
  return async (request, init) => {
    const sent = monotonic()
    const add = (failure: Try['failure']) => void tries.push({ sent, answered: monotonic(), failure })
    try {
      const response = await send(request, init)
      const isInside = response.headers.has(INSIDE)
      add(response.ok ? null : { status: isInside ? 200 : response.status, code: isInside ? 'error' : 'http' })
      return response
    } catch (error) {
      add({ status: null, code: init?.signal?.aborted ? 'timeout' : codeOf(error) })
      throw error
    }
  }
}

/** The server's message is recorded and reported, so it is shortened. The request is never included. */
function unanswered(model: string, baseURL: string | undefined, keyName: string, cause: unknown): HarnessError {
  const { status, headers } = isApiError(cause) ? cause : {}
  const inside = headers?.get(INSIDE)
  const said = shortened(rootOf(cause))
  const refused = (words: string, advice: string) =>
    new HarnessError('model-refused', `${words.replace(/\.?$/, '.')} ${advice.replace('KEY', keyName)}`, { cause })
  if (inside === 'other') return refused(`The server of the model ${model}${formatHost(baseURL)} ${said}`, OTHER_API)
  const advice = status === undefined ? undefined : headers?.has(QUOTA_SPENT) ? SPENT : ADVICE[status]
  const named = inside === 'unnamed' ? nameStatus(200) : nameStatus(status, inside === 'named')
  const words = `The model ${model}${formatHost(baseURL)} did not answer${named}: ${said}`
  if (advice) return refused(words, advice)
  return new HarnessError(isPassing(status) ? 'model-unavailable' : 'policy-failed', words, { cause })
}

/** Whether another try may be answered: too many requests, a fault of the server, or no answer at all. */
function isPassing(status: number | undefined): boolean {
  return status === undefined || status === 408 || status === 429 || status >= 500 || isOfServer(status)
}

/** Of a gateway whose model is loading (424) or gone (499), or that was asked too early (425): it may answer later. */
function isOfServer(status: number): boolean {
  return status === 424 || status === 425 || status === 499
}

/** A header of ours, on a 429 that another try does not change before another day. */
const QUOTA_SPENT = 'x-episodic-quota-spent'
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

/** Returns the message of the root cause: the client reports every network failure as a connection error. */
function rootOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isTimeout(error)) return `${error.message} If its answers take longer, raise modelTimeout.`
  // The client puts a status before the words, which none of these had.
  if (isApiError(error) && error.headers?.has(INSIDE)) return error.message.replace(/^\d{3} /, '')
  return error.cause instanceof Error ? rootOf(error.cause) : error.message
}

function shortened(said: string): string {
  return cleanText(shorten(said, 300)).trim()
}

function formatHost(baseURL: string | undefined): string {
  return baseURL ? ` at ${new URL(baseURL).host}` : ''
}

/** Maximum bytes of one answer. */
const LARGEST = 16 * 1024 ** 2
/** Minimum length of a real key: shorter ones are placeholders such as `EMPTY`. */
const KEY_LENGTH = 16

/**
 * A header of ours, on what an answer with status 200 says in its body: `named` or `unnamed` errors, and what is
 * `other`.
 */
const INSIDE = 'x-episodic-inside'

/**
 * Returns a `fetch` that reads the whole answer, so that the caller's timeout covers it, and redacts the caller's key
 * in it. Rejects for an answer of more than 16 MiB, and for incomplete JSON, so that it is retried like a lost
 * connection. Turns an answer with status 200 that is none into one with the status that the client handles alike.
 */
function fetchWhole(send: typeof fetch, key: string | undefined): typeof fetch {
  return async (request, init) => {
    const response = await send(request, init)
    const headers = new Headers(response.headers)
    const whole = await readText(response)
    const said = key && key.length >= KEY_LENGTH ? whole.replaceAll(key, '[key]') : whole
    const { status, statusText } = response
    if (isOfServer(status)) headers.set('x-should-retry', 'true')
    const read = readAnswerBody(said)
    if (read.kind === 'error' && read.answer) return Response.json(read.answer)
    if ((response.ok && read.kind === 'error' ? read.status : status) === 429 && SPENT_WORDS.test(said)) {
      headers.set(QUOTA_SPENT, 'yes')
      // The client does not retry an answer with this header.
      headers.set('x-should-retry', 'false')
    }
    // A status such as 304 must not have a body.
    if (!response.ok) return new Response(said === '' ? null : said, { status, statusText, headers })
    headers.set('content-type', 'application/json')
    const instead = (status: number, inside: string, error: object) => {
      headers.set(INSIDE, inside)
      return new Response(JSON.stringify({ error }), { status, headers })
    }
    switch (read.kind) {
      case 'answer':
        return new Response(JSON.stringify(read.value), { headers })
      case 'incomplete':
        throw Object.assign(new Error('The answer ended before its JSON did.'), { code: 'incomplete' })
      case 'error':
        return instead(read.status ?? 502, read.status === null ? 'unnamed' : 'named', {
          message: read.words,
          code: read.code,
        })
      case 'malformed':
        headers.set('x-should-retry', 'false')
        return instead(502, 'other', { message: `sent an answer that is no JSON: ${read.fault}` })
      case 'other':
        // A gateway may send such a page for a moment, so it is retried.
        return instead(502, 'other', { message: `speaks another API: ${said.trim() || 'its answer is empty'}` })
    }
  }
}

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > LARGEST) throw new Error(`The answer has more than ${LARGEST / 1024 ** 2} MiB.`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
