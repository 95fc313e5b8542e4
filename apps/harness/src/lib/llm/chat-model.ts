import type { ModelRequest, ToolInfo } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/extend'
import { cleanText } from '@episodic/report'
import OpenAI, { APIConnectionTimeoutError, APIError } from 'openai'
import { HarnessError } from '../harness-error.ts'
import { nameStatus } from './http-status.ts'
import { type EpisodeJournal, hashRequest } from './model-journal.ts'
import { createModelLimit, type ModelLimit, type ModelRates, untilTurn } from './model-limit.ts'
import type { ModelSettings } from './model-options.ts'
import { type Answer, parseAnswer } from './parse-answer.ts'
import type { Message } from './transcript.ts'
import { codeOf, type Try, timesOf } from './tries.ts'

/** A language model behind an OpenAI-compatible API. */
export interface ChatModel {
  /**
   * Asks for one answer, unless the journal has it. Retries a request five times if its answer is incomplete, late, or 408, 409, 429 or 5xx, with
   * growing pauses or after the server's `retry-after` of up to a minute. After a 429 with `retry-after`, nobody who
   * shares the limit asks for so long.
   *
   * Rejects with HarnessError `model-refused` for 400, 401, 402, 403, 404, 422 and a spent quota, which a retry does not
   * change; with `model-unavailable` if no request is answered; and with `policy-failed` if an answer is not a completion.
   * After an abort: with the signal's reason.
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
  /** The tool that has to be called. Default: the model chooses. */
  readonly forcedTool?: string | undefined
  /** Answers that were kept of the same episode. Default: none, and none is kept. */
  readonly journal?: EpisodeJournal | null
  readonly signal?: AbortSignal | undefined
}

const RETRIES = 5
const OPENAI = 'https://api.openai.com/v1'

/**
 * Returns a model. Throws HarnessError `option-invalid` if its server is unknown.
 *
 * @param limit - shared with others who ask. Default: one of its own.
 */
export function createChatModel(
  model: string,
  settings: ModelSettings,
  limit: ModelLimit = createModelLimit(),
): ChatModel {
  const { baseUrl, temperature, maxTokens, prices, tokenIds, timeoutSeconds } = settings
  const baseURL = baseUrl ?? process.env.OPENAI_BASE_URL
  const keyName = settings.apiKeyEnv ?? 'OPENAI_API_KEY'
  const apiKey = process.env[keyName]
  if (settings.apiKeyEnv !== null && !apiKey)
    throw new HarnessError('option-invalid', `The key of ${model} is to be in ${keyName}, which is not set. Set it.`)
  if (!baseURL && !apiKey)
    throw new HarnessError(
      'option-invalid',
      `No server is configured for ${model}. Set OPENAI_API_KEY, or give --base-url <url> of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1.`,
    )
  if (baseURL && !URL.canParse(baseURL))
    throw new HarnessError(
      'option-invalid',
      `OPENAI_BASE_URL is "${baseURL}", which is not a URL. Set it to an http(s) URL.`,
    )
  const client = new OpenAI({
    baseURL,
    // Local servers need no key, but the client requires one.
    apiKey: apiKey || 'none',
    maxRetries: RETRIES,
    timeout: timeoutSeconds * 1_000,
  })
  const turns = turnsOf(limit, `${baseURL ?? OPENAI} ${model}`, settings)
  return {
    async ask({ messages, tools, seed, forcedTool, journal = null, signal }) {
      const request = { messages: [...messages], tools: tools.map(functionOf) }
      const asked = { request: request as unknown as ModelRequest }
      const body = {
        model,
        ...request,
        tool_choice:
          forcedTool === undefined ? ('auto' as const) : { type: 'function' as const, function: { name: forcedTool } },
        seed,
        ...(temperature !== null && { temperature }),
        ...(maxTokens !== null && { max_tokens: maxTokens }),
        // vLLM returns ids for the second, and SGLang for the last two; others ignore them.
        ...(tokenIds && {
          logprobs: true,
          return_token_ids: true,
          return_prompt_token_ids: true,
          return_meta_info: true,
        }),
      }
      const hash = journal && hashRequest(body)
      const kept = hash && journal.take(hash)
      if (kept) return { ...kept, ...asked, isKept: true }
      const turn = await turns.wait(request, signal)
      const tries: Try[] = []
      const said: unknown = await client
        .withOptions({ fetch: recordTries(turns.watch(fetchWhole(apiKey)), tries) })
        .chat.completions.create(body, { signal })
        .catch(async (cause: unknown) => {
          await turn.end(0)
          signal?.throwIfAborted()
          throw unanswered(model, baseURL, keyName, cause)
        })
      const parsed = parseAnswer(said, prices)
      if (!parsed)
        throw new HarnessError(
          'policy-failed',
          `The server of the model ${model}${placeOf(baseURL)} speaks another API: ${shortened(String(said))}. Check --base-url: it often ends in /v1.`,
        )
      const { promptTokens, completionTokens } = parsed.completion
      await turn.end(promptTokens + completionTokens)
      const completion = { ...parsed.completion, asked: model, ...timesOf(tries, turn.waited) }
      const answer = { ...parsed, completion }
      if (hash) await journal.add(hash, answer)
      return { ...answer, ...asked, isKept: false }
    },
  }
}

/** A request whose turn has come. */
interface Turn {
  /** Milliseconds that it waited. */
  readonly waited: number
  /** Counts the tokens that it had, 0 if it was not answered, instead of the estimate. */
  end(tokens: number): Promise<void>
}

/** Returns what keeps the requests to a model within a limit. */
function turnsOf(limit: ModelLimit, model: string, settings: ModelSettings) {
  const { requestsPerMinute, tokensPerMinute, maxTokens } = settings
  const rates: ModelRates = { requestsPerMinute, tokensPerMinute }
  return {
    /** Waits for the turn of a request. After an abort: rejects with the signal's reason. */
    async wait(request: object, signal: AbortSignal | undefined): Promise<Turn> {
      const begun = monotonic()
      const estimate =
        tokensPerMinute === null ? 0 : Math.ceil(JSON.stringify(request).length / TOKEN_LENGTH) + (maxTokens ?? 0)
      await untilTurn(limit, model, rates, estimate, signal)
      const isLimited = requestsPerMinute !== null || tokensPerMinute !== null
      return {
        waited: isLimited ? monotonic() - begun : 0,
        // Some servers count no tokens. The estimate is better than nothing.
        end: (tokens) => limit.correct(model, rates, tokens === 0 ? 0 : tokens - estimate),
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

/** Returns the milliseconds after which a server wants to be asked again; `null` if it does not say. */
function retryAfter(headers: Headers): number | null {
  const exact = headers.get('retry-after-ms')
  const given = headers.get('retry-after')
  if (headers.get('x-should-retry') === 'false' || (exact ?? given) === null) return null
  const seconds = Number(given)
  const milliseconds =
    exact !== null ? Number(exact) : Number.isNaN(seconds) ? Date.parse(String(given)) - Date.now() : seconds * 1_000
  return milliseconds > 0 ? milliseconds : null
}

/** Returns a `fetch` that adds each request to `tries`. */
function recordTries(send: typeof fetch, tries: Try[]): typeof fetch {
  return async (request, init) => {
    const sent = monotonic()
    const add = (failure: Try['failure']) => void tries.push({ sent, answered: monotonic(), failure })
    try {
      const response = await send(request, init)
      add(response.ok ? null : { status: response.status, code: 'http' })
      return response
    } catch (error) {
      add({ status: null, code: init?.signal?.aborted ? 'timeout' : codeOf(error) })
      throw error
    }
  }
}

function functionOf({ name, description, inputSchema }: ToolInfo): OpenAI.ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: inputSchema } }
}

/** The server's message is recorded and reported, so it is shortened. The request is never included. */
function unanswered(model: string, baseURL: string | undefined, keyName: string, cause: unknown): HarnessError {
  const status = cause instanceof APIError ? cause.status : undefined
  const isSpent = cause instanceof APIError && cause.code === QUOTA_SPENT
  const advice = status === undefined ? undefined : isSpent ? SPENT : ADVICE[status]
  const words = `The model ${model}${placeOf(baseURL)} did not answer${nameStatus(status)}: ${shortened(rootOf(cause))}`
  return advice
    ? new HarnessError('model-refused', `${words.replace(/\.?$/, '.')} ${advice.replace('KEY', keyName)}`, { cause })
    : new HarnessError(isPassing(status) ? 'model-unavailable' : 'policy-failed', words, { cause })
}

/** Whether another try may be answered: too many requests, a fault of the server, or no answer at all. */
function isPassing(status: number | undefined): boolean {
  return status === undefined || status === 408 || status === 429 || status >= 500
}

/** The code of a 429 that another try does not change. */
const QUOTA_SPENT = 'insufficient_quota'

const SPENT = 'The quota of the key in KEY is spent: raise it.'
const REJECTED =
  'Check the options of the model, such as --temperature and --max-tokens, and the length of its context.'

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
  if (error instanceof APIConnectionTimeoutError) return error.message
  return error.cause instanceof Error ? rootOf(error.cause) : error.message
}

function shortened(said: string): string {
  return cleanText(said.slice(0, 300)).trim()
}

function placeOf(baseURL: string | undefined): string {
  return baseURL ? ` at ${new URL(baseURL).host}` : ''
}

/** Maximum bytes of one answer. */
const LARGEST = 16 * 1024 ** 2
/** Minimum length of a real key: shorter ones are placeholders such as `EMPTY`. */
const KEY_LENGTH = 16

/**
 * Returns a `fetch` that reads the whole answer, so that the caller's timeout covers it, and redacts the caller's key in
 * it. Rejects for an answer of more than 16 MiB, and for incomplete JSON, so that it is retried like a lost connection.
 */
function fetchWhole(key: string | undefined): typeof fetch {
  return async (request, init) => {
    const response = await fetch(request, init)
    const { status, statusText } = response
    const headers = new Headers(response.headers)
    const said = await textOf(response)
    if (response.ok && isCutShort(said))
      throw Object.assign(new Error('The answer ended before its JSON did.'), { code: 'incomplete' })
    // The client does not retry an answer with this header.
    if (status === 429 && said.includes(`"${QUOTA_SPENT}"`)) headers.set('x-should-retry', 'false')
    const body = key && key.length >= KEY_LENGTH ? said.replaceAll(key, '[key]') : said
    // A status such as 204 must not have a body.
    return new Response(body === '' ? null : body, { status, statusText, headers })
  }
}

/** Whether a text starts like JSON and is incomplete. HTML is from another API, and not incomplete. */
function isCutShort(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > LARGEST) throw new Error(`The answer has more than ${LARGEST / 1024 ** 2} MiB.`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
