import { type Command, InvalidArgumentError } from 'commander'
import { HarnessError } from '../harness-error.ts'
import { numberWithin, wholeNumber } from '../option-values.ts'
import { DEFAULT_SETTINGS, type ModelSettings } from './model-settings.ts'

/** Of a million tokens: far above any price, and far below what does not add up any more. */
const DEAREST = 1_000_000_000

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
}

export function addModelOptions(command: Command): Command {
  return command
    .option('--base-url <url>', 'with llm:<model>: an OpenAI-compatible server (default: OPENAI_BASE_URL)', address)
    .option('--temperature <number>', 'with llm:<model>: of sampling', numberWithin(0, 2))
    .option('--max-tokens <count>', 'with llm:<model>: tokens of one answer', wholeNumber(1))
    .option('--token-budget <count>', 'with llm:<model>: tokens that one episode may take', wholeNumber(1))
    .option('--requests-per-minute <count>', 'with llm:<model>: over all episodes', wholeNumber(1))
    .option('--prices <read,written>', 'with llm:<model>: of a million tokens, for the cost in the report', prices)
    .option('--token-ids', 'with llm:<model>: ask for token ids and log-probabilities, and keep them')
    .option(
      '--model-timeout <seconds>',
      'with llm:<model>: of one request, before it is made again',
      wholeNumber(1),
      DEFAULT_SETTINGS.timeoutSeconds,
    )
}

/**
 * Throws `option-invalid` where there is less to ask in a minute than there are processes to ask it.
 *
 * @param processes - that share what may be asked in a minute.
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

function address(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text
  throw new InvalidArgumentError('It has to be an http(s) URL, such as http://127.0.0.1:8000/v1.')
}

function prices(text: string): NonNullable<ModelSettings['prices']> {
  const [prompt, completion, ...more] = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  if (!isPrice(prompt) || !isPrice(completion) || more.length > 0)
    throw new InvalidArgumentError('Prices are written as read,written, such as 0.5,1.5.')
  return { prompt, completion }
}

function isPrice(price: number | undefined): price is number {
  return price !== undefined && price >= 0 && price <= DEAREST
}
