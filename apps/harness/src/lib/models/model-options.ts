import { type Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { HarnessError } from '../base/harness-error.ts'
import { numberWithin, wholeNumber } from '../base/option-values.ts'
import { createRecording, type Recording, TRANSCRIPTS } from '../run-folder/record/recording.ts'

/** Default refusals in a row that stop a run, and seconds of an outage. */
export const FAIL_FAST = 5
export const OUTAGE_LIMIT = 600

/** Per million tokens: far above any real price, and small enough for exact sums. */
const MAX_PRICE = 1_000_000_000
const priceSchema = z.number().min(0).max(MAX_PRICE)

/** The options of commands that may play with a language model, as plain JSON. */
export const modelOptionsSchema = z.object({
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** The environment variable that holds the key. Default: `OPENAI_API_KEY`. */
  apiKeyEnv: z.string().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().min(1).optional(),
  tokenBudget: z.int().min(1).optional(),
  requestsPerMinute: z.int().min(1).optional(),
  tokensPerMinute: z.int().min(1).optional(),
  prices: z.object({ prompt: priceSchema, completion: priceSchema }).optional(),
  tokenIds: z.boolean().optional(),
  modelTimeout: z.int().min(1).default(120),
  failFast: z.int().min(0).default(FAIL_FAST),
  /** Seconds. */
  outageLimit: z.int().min(0).default(OUTAGE_LIMIT),
  transcript: z.enum(TRANSCRIPTS).default('full'),
  /** The source of a regular expression. */
  redact: z.string().optional(),
})
export type ModelOptions = z.infer<typeof modelOptionsSchema>

export function addModelOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--transcript <kept>', 'with llm:<model>: what lines keep of what it was sent and said')
        .choices(TRANSCRIPTS)
        .default('full'),
    )
    .option('--redact <expression>', 'with llm:<model>: a regular expression of texts to take out of that', expression)
    .option('--base-url <url>', 'with llm:<model>: an OpenAI-compatible server (default: OPENAI_BASE_URL)', address)
    .option('--temperature <number>', 'with llm:<model>: sampling temperature', numberWithin(0, 2))
    .option('--max-tokens <count>', 'with llm:<model>: maximum tokens of one answer', wholeNumber(1))
    .option('--token-budget <count>', 'with llm:<model>: maximum tokens of one episode', wholeNumber(1))
    .option('--requests-per-minute <count>', 'with llm:<model>: rate limit over all episodes', wholeNumber(1))
    .option(
      '--tokens-per-minute <count>',
      'with llm:<model>: the same for tokens, of requests and answers',
      wholeNumber(1),
    )
    .option('--prices <input,output>', 'with llm:<model>: prices per million tokens, to report the cost', prices)
    .option('--token-ids', 'with llm:<model>: request and record token ids and log-probabilities')
    .option(
      '--model-timeout <seconds>',
      'with llm:<model>: time limit of a request, which is then retried',
      wholeNumber(1),
      DEFAULT_SETTINGS.timeoutSeconds,
    )
    .option(
      '--fail-fast <count>',
      'stop after so many refusals of llm:<model> in a row, or if a player failed in the first episodes, twice as many, in the same way; 0 for never',
      wholeNumber(0),
      FAIL_FAST,
    )
    .option(
      '--outage-limit <seconds>',
      'with llm:<model>: how long to wait for a model that does not answer',
      wholeNumber(0),
      OUTAGE_LIMIT,
    )
}

/**
 * Throws `option-invalid` if there are fewer requests or tokens per minute than processes.
 *
 * @param processes - share the requests and the tokens per minute.
 */
export function modelSettingsOf(options: ModelOptions, processes = 1): ModelSettings {
  const share = (name: string, perMinute: number | undefined): number | null => {
    if (perMinute === undefined) return null
    if (perMinute >= processes) return Math.floor(perMinute / processes)
    throw new HarnessError(
      'option-invalid',
      `${name} ${perMinute} cannot be shared by --processes ${processes}. Give fewer processes.`,
    )
  }
  return {
    baseUrl: options.baseUrl ?? null,
    apiKeyEnv: options.apiKeyEnv ?? null,
    temperature: options.temperature ?? null,
    maxTokens: options.maxTokens ?? null,
    tokenBudget: options.tokenBudget ?? null,
    requestsPerMinute: share('--requests-per-minute', options.requestsPerMinute),
    tokensPerMinute: share('--tokens-per-minute', options.tokensPerMinute),
    prices: options.prices ?? null,
    tokenIds: options.tokenIds ?? false,
    timeoutSeconds: options.modelTimeout,
  }
}

/** Returns how a run with these options records. */
export function recordingOf({ transcript, redact, apiKeyEnv }: ModelOptions): Recording {
  const names = apiKeyEnv === undefined ? [] : [apiKeyEnv]
  return createRecording(transcript, redact === undefined ? null : expressionOf(redact), names)
}

/**
 * Returns the options of how models are asked, without those that have their defaults and those of the configuration,
 * as words of a command line. No key is in them: of an address, neither user, password nor query.
 */
export function modelWords(options: ModelOptions): string[] {
  const { baseUrl = process.env.OPENAI_BASE_URL, prices, tokenIds, ...rest } = options
  const option = (name: string, value: string | number | undefined, usual?: string | number) =>
    value === undefined || value === usual ? [] : [`--${name}`, String(value)]
  return [
    ...option('base-url', baseUrl && withoutSecrets(baseUrl)),
    ...option('requests-per-minute', rest.requestsPerMinute),
    ...option('prices', prices && `${prices.prompt},${prices.completion}`),
    ...(tokenIds ? ['--token-ids'] : []),
    ...option('model-timeout', rest.modelTimeout, DEFAULT_SETTINGS.timeoutSeconds),
    ...option('fail-fast', rest.failFast, FAIL_FAST),
    ...option('outage-limit', rest.outageLimit, OUTAGE_LIMIT),
    ...option('transcript', rest.transcript, 'full'),
    ...option('redact', rest.redact),
  ]
}

function withoutSecrets(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  const isPlain = url.username === '' && url.password === '' && url.search === ''
  return isPlain ? address : `${url.protocol}//${url.host}${url.pathname}`
}

function expression(text: string): string {
  try {
    if (''.search(expressionOf(text)) !== 0) return text
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
  throw new InvalidArgumentError('It matches the empty text.')
}

function expressionOf(source: string): RegExp {
  return new RegExp(source, 'gu')
}

/** Reads the address of a server. */
export function address(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text
  throw new InvalidArgumentError('Give an http(s) URL, for example http://127.0.0.1:8000/v1.')
}

const pricesSchema = z.tuple([priceSchema, priceSchema])

/** Reads two prices per million tokens. */
export function prices(text: string): NonNullable<ModelSettings['prices']> {
  const parts = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const parsed = pricesSchema.safeParse(parts)
  if (!parsed.success) throw new InvalidArgumentError('Write two prices as input,output, for example 0.5,1.5.')
  const [prompt, completion] = parsed.data
  return { prompt, completion }
}

/** How a language model is called. `null` leaves a setting to its server. */
export interface ModelSettings {
  /**
   * Root of an OpenAI-compatible API, for example `http://127.0.0.1:8000/v1`. `null`: `OPENAI_BASE_URL`, or else
   * OpenAI.
   */
  readonly baseUrl: string | null
  /** The environment variable that holds the key. `null`: `OPENAI_API_KEY`. */
  readonly apiKeyEnv: string | null
  /** Sampling temperature, from 0. */
  readonly temperature: number | null
  /** Maximum tokens of one answer. */
  readonly maxTokens: number | null
  /** Maximum input and output tokens of one episode; `null` for no limit. */
  readonly tokenBudget: number | null
  /** Over all who share the limit: the episodes of this process, or of a queue; `null` for no limit. */
  readonly requestsPerMinute: number | null
  /** The same for tokens, of requests and answers. */
  readonly tokensPerMinute: number | null
  /** Per million input and output tokens, in any one currency; `null` if unknown. */
  readonly prices: { readonly prompt: number; readonly completion: number } | null
  /** Requests token ids and log-probabilities. They are recorded whenever the server sends them. */
  readonly tokenIds: boolean
  /** Time limit of one request, in seconds. It is then retried. */
  readonly timeoutSeconds: number
}

export const DEFAULT_SETTINGS: ModelSettings = {
  baseUrl: null,
  apiKeyEnv: null,
  temperature: null,
  maxTokens: null,
  tokenBudget: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  prices: null,
  tokenIds: false,
  timeoutSeconds: 120,
}
