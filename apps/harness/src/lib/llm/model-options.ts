import { type Command, InvalidArgumentError, Option } from 'commander'
import { HarnessError } from '../harness-error.ts'
import { numberWithin, wholeNumber } from '../option-values.ts'
import { createRecording, type Recording, TRANSCRIPTS } from '../run/record/recording.ts'

/** Per million tokens: far above any real price, and small enough for exact sums. */
const MAX_PRICE = 1_000_000_000

/** The options of commands that may play with a language model. */
export interface ModelOptions {
  readonly baseUrl?: string
  readonly temperature?: number
  readonly maxTokens?: number
  readonly tokenBudget?: number
  readonly requestsPerMinute?: number
  readonly prices?: NonNullable<ModelSettings['prices']>
  readonly tokenIds?: true
  readonly modelTimeout: number
  readonly transcript: Recording['keep']
  readonly redact?: RegExp
}

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
    .option('--prices <input,output>', 'with llm:<model>: prices per million tokens, to report the cost', prices)
    .option('--token-ids', 'with llm:<model>: request and record token ids and log-probabilities')
    .option(
      '--model-timeout <seconds>',
      'with llm:<model>: time limit of a request, which is then retried',
      wholeNumber(1),
      DEFAULT_SETTINGS.timeoutSeconds,
    )
}

/**
 * Throws `option-invalid` if there are fewer requests per minute than processes.
 *
 * @param processes - share the requests per minute.
 */
export function modelSettingsOf(options: ModelOptions, processes = 1): ModelSettings {
  const { requestsPerMinute = null } = options
  if (requestsPerMinute !== null && requestsPerMinute < processes)
    throw new HarnessError(
      'option-invalid',
      `--requests-per-minute ${requestsPerMinute} cannot be shared by --processes ${processes}. Give fewer processes.`,
    )
  return {
    baseUrl: options.baseUrl ?? null,
    temperature: options.temperature ?? null,
    maxTokens: options.maxTokens ?? null,
    tokenBudget: options.tokenBudget ?? null,
    requestsPerMinute: requestsPerMinute && Math.floor(requestsPerMinute / processes),
    prices: options.prices ?? null,
    tokenIds: options.tokenIds ?? false,
    timeoutSeconds: options.modelTimeout,
  }
}

/** Returns how a run with these options records. */
export function recordingOf({ transcript, redact }: ModelOptions): Recording {
  return createRecording(transcript, redact)
}

/** Returns the command-line arguments of these options. */
export function modelArguments(options: ModelOptions): string[] {
  const { baseUrl, temperature, maxTokens, tokenBudget, requestsPerMinute, prices, tokenIds, modelTimeout } = options
  const { transcript, redact } = options
  const named = {
    '--base-url': baseUrl,
    '--temperature': temperature,
    '--max-tokens': maxTokens,
    '--token-budget': tokenBudget,
    '--requests-per-minute': requestsPerMinute,
    '--prices': prices && `${prices.prompt},${prices.completion}`,
    '--model-timeout': modelTimeout,
    '--transcript': transcript,
    '--redact': redact?.source,
  }
  return [
    ...Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)])),
    ...(tokenIds ? ['--token-ids'] : []),
  ]
}

function expression(text: string): RegExp {
  let parsed: RegExp
  try {
    parsed = new RegExp(text, 'gu')
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
  if (''.search(parsed) === 0) throw new InvalidArgumentError('It matches the empty text.')
  return parsed
}

function address(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text
  throw new InvalidArgumentError('Give an http(s) URL, for example http://127.0.0.1:8000/v1.')
}

function prices(text: string): NonNullable<ModelSettings['prices']> {
  const [prompt, completion, ...more] = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  if (!isPrice(prompt) || !isPrice(completion) || more.length > 0)
    throw new InvalidArgumentError('Write two prices as input,output, for example 0.5,1.5.')
  return { prompt, completion }
}

function isPrice(price: number | undefined): price is number {
  return price !== undefined && price >= 0 && price <= MAX_PRICE
}

/** How a language model is called. `null` leaves a setting to its server. */
export interface ModelSettings {
  /** Root of an OpenAI-compatible API, for example `http://127.0.0.1:8000/v1`. `null`: `OPENAI_BASE_URL`, or else OpenAI. */
  readonly baseUrl: string | null
  /** Sampling temperature, from 0. */
  readonly temperature: number | null
  /** Maximum tokens of one answer. */
  readonly maxTokens: number | null
  /** Maximum input and output tokens of one episode; `null` for no limit. */
  readonly tokenBudget: number | null
  /** Over all episodes of this process; `null` for no limit. */
  readonly requestsPerMinute: number | null
  /** Per million input and output tokens, in any one currency; `null` if unknown. */
  readonly prices: { readonly prompt: number; readonly completion: number } | null
  /** Requests token ids and log-probabilities. They are recorded whenever the server sends them. */
  readonly tokenIds: boolean
  /** Time limit of one request, in seconds. It is then retried. */
  readonly timeoutSeconds: number
}

export const DEFAULT_SETTINGS: ModelSettings = {
  baseUrl: null,
  temperature: null,
  maxTokens: null,
  tokenBudget: null,
  requestsPerMinute: null,
  prices: null,
  tokenIds: false,
  timeoutSeconds: 120,
}
