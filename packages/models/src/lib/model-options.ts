import { invalidOption } from '@episodic/run/base/harness-error'
import { mapValues } from '@episodic/run/base/map-values'
import { wholeNumber } from '@episodic/run/base/option-values'
import { flag, inFile, type OptionText, option, toWords } from '@episodic/run/base/options'
import { samplingOptions } from '@episodic/run/folder/plan/plan-options'
import { createRecording, type Recording, TRANSCRIPTS } from '@episodic/run/folder/record/recording'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'

export const NATIVE_APIS = ['anthropic', 'google'] as const
export type NativeApi = (typeof NATIVE_APIS)[number]

/** Default refusals in a row that stop a run, and seconds of an outage. */
export const FAIL_FAST = 5
export const OUTAGE_LIMIT = 600

/** Seconds of a time limit: three weeks. */
const LONGEST_RUN = 1_814_400

/** Per million tokens: far above any real price, and small enough for exact sums. */
const MAX_PRICE = 1_000_000_000
const priceSchema = z.number().min(0).max(MAX_PRICE)

/** Root of an OpenAI-compatible API, for example `http://127.0.0.1:8000/v1`. */
export const baseUrlSchema = z.url({
  protocol: /^https?$/,
  error: 'Give an http(s) URL, for example http://127.0.0.1:8000/v1.',
})

/**
 * Per million tokens that are read and written, in any one currency. Of those that are read from a cache, and into one,
 * by default as of all that are read.
 */
export const pricesSchema = z.object({
  prompt: priceSchema,
  completion: priceSchema,
  cached: priceSchema.optional(),
  cacheWrite: priceSchema.optional(),
})
export type Prices = z.infer<typeof pricesSchema>

/** `0.5,1.5`, `0.5,1.5,0.05` or `0.5,1.5,0.05,0.6`. */
export const prices: OptionText<Prices> = {
  read(text) {
    const given = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
    const parsed = pricesSchema.safeParse(toPrices(given))
    if (parsed.success && given.length <= 4) return parsed.data
    throw new InvalidArgumentError(
      'Write the prices as input,output, for example 0.5,1.5, and after them those of tokens read from a cache and into one.',
    )
  },
  write: ({ prompt, completion, cached, cacheWrite }) => {
    const more = cacheWrite === undefined ? [cached] : [cached ?? prompt, cacheWrite]
    return [prompt, completion, ...more].filter((price) => price !== undefined).join(',')
  },
}

export function toPrices([prompt, completion, cached, cacheWrite]: readonly (number | undefined)[]): object {
  return {
    prompt,
    completion,
    ...(cached !== undefined && { cached }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  }
}

export const modelOptionsSchema = z.object({
  transcript: option(
    '<kept>',
    'with llm:<model>: what lines keep of what it was sent and said',
    z.enum(TRANSCRIPTS).default('full'),
    inFile,
  ),
  redact: option(
    '<expression>',
    'with llm:<model>: a regular expression of texts to take out of that',
    z.string().superRefine(checkExpression).optional(),
    inFile,
  ),
  /** Root of the API. Default: `OPENAI_BASE_URL`, or else OpenAI. */
  baseUrl: option(
    '<url>',
    'with llm:<model>: an OpenAI-compatible server (default: OPENAI_BASE_URL)',
    baseUrlSchema.optional(),
  ),
  /** Default: `chat`, or the provider that `llm:anthropic/<model>` names where no server is given. */
  api: option(
    '<api>',
    'with llm:<model>: what its server speaks (default: chat; for llm:anthropic/<model> and llm:google/<model> without --base-url their own)',
    z.enum(['chat', ...NATIVE_APIS]).optional(),
    inFile,
  ),
  ...samplingOptions.shape,
  /** Over all who share the limit: the episodes of this process, or of a queue. Default: no limit. */
  requestsPerMinute: option(
    '<count>',
    'with llm:<model>: rate limit over all episodes',
    wholeNumber(1).optional(),
    inFile,
  ),
  tokensPerMinute: option(
    '<count>',
    'with llm:<model>: the same for tokens, of requests and answers',
    wholeNumber(1).optional(),
    inFile,
  ),
  /** Default: unknown, unless the server itself says what an answer cost. */
  prices: option(
    '<input,output,…>',
    'with llm:<model>: prices per million tokens, to report the cost; after them those of tokens read from a cache, and into one',
    pricesSchema.optional(),
    { text: prices, inFile: '{"prompt":<number>,…}' },
  ),
  /** Requests token ids and log-probabilities. They are recorded whenever the server sends them. */
  tokenIds: flag('with llm:<model>: request and record token ids and log-probabilities'),
  modelTimeout: option(
    '<seconds>',
    'with llm:<model>: time limit of a request, which is then retried',
    wholeNumber(1).default(120),
    inFile,
  ),
  failFast: option(
    '<count>',
    'stop after so many refusals of llm:<model> in a row, or if a player failed in the first episodes, twice as many, in the same way; 0 for never',
    wholeNumber(0).default(FAIL_FAST),
    inFile,
  ),
  outageLimit: option(
    '<seconds>',
    'with llm:<model>: how long to wait for a model that does not answer',
    wholeNumber(0).default(OUTAGE_LIMIT),
    inFile,
  ),
  /** In the currency of the prices. Default: no limit. */
  costLimit: option(
    '<amount>',
    'with llm:<model>: stop once the run, or the set, has cost so much; it can be resumed',
    z.number('Give an amount above 0.').positive('Give an amount above 0.').optional(),
  ),
  tokenLimit: option(
    '<count>',
    'with llm:<model>: the same for tokens that were read and written',
    wholeNumber(1).optional(),
  ),
  /** In seconds. Default: no limit. */
  timeLimit: option(
    '<seconds>',
    'stop once the run, or the set, has taken so long; a resumed one has as long again',
    wholeNumber(1, LONGEST_RUN).optional(),
  ),
  /** The environment variable that holds the key. Default: `OPENAI_API_KEY`. */
  apiKeyEnv: z.string().min(1).optional(),
})
export type ModelOptions = z.infer<typeof modelOptionsSchema>

export type ModelSettings = Omit<
  ModelOptions,
  'failFast' | 'outageLimit' | 'costLimit' | 'tokenLimit' | 'timeLimit' | 'transcript' | 'redact'
>

export const DEFAULT_OPTIONS: ModelOptions = modelOptionsSchema.parse({})

/**
 * Returns the settings of one of several processes, which share the requests and the tokens per minute. Throws
 * `option-invalid` if there are fewer of these than processes.
 */
export function shareLimits(settings: ModelSettings, processes: number): ModelSettings {
  const share = (name: string, perMinute: number | undefined): number | undefined => {
    if (perMinute === undefined || perMinute >= processes) return perMinute && Math.floor(perMinute / processes)
    throw invalidOption(`${name} ${perMinute} cannot be shared by --processes ${processes}. Give fewer processes.`)
  }
  return {
    ...settings,
    requestsPerMinute: share('--requests-per-minute', settings.requestsPerMinute),
    tokensPerMinute: share('--tokens-per-minute', settings.tokensPerMinute),
  }
}

export function recordingOf({ transcript, redact, apiKeyEnv, modelHeader = {} }: ModelOptions): Recording {
  const secret = Object.values(modelHeader).flatMap((value) => variableOf(value) ?? [])
  const names = [...(apiKeyEnv === undefined ? [] : [apiKeyEnv]), ...secret]
  return createRecording(transcript, redact === undefined ? null : expressionOf(redact), names)
}

/**
 * Returns the options of how models are asked, without those that have their defaults and those of the configuration,
 * as words of a command line. No key is in them: of an address, neither user, password nor query.
 */
export function modelWords({ baseUrl = process.env.OPENAI_BASE_URL, ...options }: ModelOptions): string[] {
  const sampling = mapValues(samplingOptions.shape, () => true as const)
  const asked = modelOptionsSchema.omit(sampling as Record<keyof typeof samplingOptions.shape, true>)
  return toWords(asked, { ...options, baseUrl: baseUrl && withoutSecrets(baseUrl) })
}

export function variableOf(header: string): string | undefined {
  return /^env:(\w+)$/.exec(header)?.[1]
}

function withoutSecrets(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  const isPlain = url.username === '' && url.password === '' && url.search === ''
  return isPlain ? address : `${url.protocol}//${url.host}${url.pathname}`
}

function checkExpression(text: string, context: z.RefinementCtx): void {
  try {
    if (''.search(expressionOf(text)) === 0) context.addIssue('It matches the empty text.')
  } catch (error) {
    context.addIssue((error as Error).message)
  }
}

function expressionOf(source: string): RegExp {
  return new RegExp(source, 'gu')
}
