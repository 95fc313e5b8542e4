import { setTimeout as pause } from 'node:timers/promises'
import type { ToolInfo } from '@episodic/protocol'
import OpenAI, { APIConnectionTimeoutError, APIError } from 'openai'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { HarnessError } from '../harness-error.ts'
import { cleanText } from '../report/plots/format.ts'
import { type Answer, answerOf } from './answer-of.ts'
import type { ModelSettings } from './model-settings.ts'
import type { Message } from './transcript.ts'
import { fetchWhole } from './whole-answer.ts'

/** A language model behind an OpenAI-compatible API. */
export interface ChatModel {
  /**
   * Asks for one answer. Requests that fail are made again, five times, with growing pauses or as the server says
   * (`retry-after`, of up to a minute): those that were not answered whole, timed out, or were answered 408, 409, 429 or
   * 5xx.
   *
   * Throws HarnessError `model-refused` for 401, 403 and 404, which asking again does not change, and `policy-failed` where
   * no request is answered otherwise, and where what is answered is no completion. After an abort: the signal's reason.
   */
  ask(question: Question): Promise<Answer>
}

export interface Question {
  readonly messages: readonly Message[]
  readonly tools: readonly ToolInfo[]
  /** The model's own chance, where the server has such a thing. */
  readonly seed: number
  readonly signal?: AbortSignal | undefined
}

const RETRIES = 5

/** Opens a model. Throws HarnessError `option-invalid` where it is not known how to reach it. */
export function createChatModel(model: string, settings: ModelSettings): ChatModel {
  const { baseUrl, temperature, maxTokens, requestsPerMinute, prices, tokenIds, timeoutSeconds } = settings
  const baseURL = baseUrl ?? process.env.OPENAI_BASE_URL
  const apiKey = process.env.OPENAI_API_KEY
  if (!baseURL && !apiKey)
    throw new HarnessError(
      'option-invalid',
      `Nothing says where ${model} is. Set OPENAI_API_KEY, or give --base-url <url> of a server that speaks the same API, such as http://127.0.0.1:8000/v1.`,
    )
  if (baseURL && !URL.canParse(baseURL))
    throw new HarnessError('option-invalid', `OPENAI_BASE_URL is "${baseURL}", and has to be an http(s) URL.`)
  const client = new OpenAI({
    baseURL,
    // Servers of one's own ask for none, and the client insists on one.
    apiKey: apiKey || 'none',
    maxRetries: RETRIES,
    timeout: timeoutSeconds * 1_000,
    fetch: fetchWhole(apiKey),
  })
  const pace = requestsPerMinute === null ? null : new RateLimiterMemory({ points: requestsPerMinute, duration: 60 })
  return {
    async ask({ messages, tools, seed, signal }) {
      if (pace) await untilAllowed(pace, signal)
      const said: unknown = await client.chat.completions
        .create(
          {
            model,
            messages: [...messages],
            tools: tools.map(functionOf),
            tool_choice: 'auto',
            seed,
            ...(temperature !== null && { temperature }),
            ...(maxTokens !== null && { max_tokens: maxTokens }),
            // vLLM and SGLang give the ids for this; others pass over it.
            ...(tokenIds && { logprobs: true, return_token_ids: true }),
          },
          { signal },
        )
        .catch((cause: unknown) => {
          signal?.throwIfAborted()
          throw unanswered(model, baseURL, cause)
        })
      const answer = answerOf(said, prices)
      if (answer) return answer
      throw new HarnessError(
        'policy-failed',
        `What answered for the model ${model}${placeOf(baseURL)} speaks another API: ${shortened(String(said))}. Look at --base-url: it often ends in /v1.`,
      )
    },
  }
}

function functionOf({ name, description, inputSchema }: ToolInfo): OpenAI.ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: inputSchema } }
}

/** What the server said goes into records and reports, so that it is short; what was sent does not. */
function unanswered(model: string, baseURL: string | undefined, cause: unknown): HarnessError {
  const status = cause instanceof APIError ? cause.status : undefined
  const shown = status === undefined ? '' : ` (HTTP ${status})`
  const advice = status === undefined ? undefined : ADVICE[status]
  const words = `The model ${model}${placeOf(baseURL)} did not answer${shown}: ${shortened(rootOf(cause))}`
  return advice
    ? new HarnessError('model-refused', `${words.replace(/\.?$/, '.')} ${advice}`, { cause })
    : new HarnessError('policy-failed', words, { cause })
}

/** What to do about refusals that asking again does not change. */
const ADVICE: Readonly<Record<number, string>> = {
  401: 'Check the key in OPENAI_API_KEY.',
  403: 'Check the key in OPENAI_API_KEY, and that it may use this model.',
  404: 'Check the name of the model, and --base-url, which often ends in /v1.',
}

/** The words of what was behind an error: the client says of all that went wrong on the way that the connection did. */
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

/** Waits until one more request is allowed in this minute. After an abort: the signal's reason. */
async function untilAllowed(pace: RateLimiterMemory, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const refusal = await pace.consume('model').then(
      () => null,
      (refusal: unknown) => refusal,
    )
    if (refusal === null) return
    if (!(refusal instanceof RateLimiterRes)) throw refusal
    await pause(refusal.msBeforeNext, null, { signal }).catch(() => signal?.throwIfAborted())
  }
}
