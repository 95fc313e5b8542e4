/** How a language model is reached and asked. What is `null` is left to the server. */
export interface ModelSettings {
  /** Root of an OpenAI-compatible API, such as `http://127.0.0.1:8000/v1`; `null` for `OPENAI_BASE_URL`, or else OpenAI's own. */
  readonly baseUrl: string | null
  /** Of sampling, from 0. */
  readonly temperature: number | null
  /** Tokens of one answer. */
  readonly maxTokens: number | null
  /** Tokens, read and written, that one episode may take. `null` for as many as it does. */
  readonly tokenBudget: number | null
  /** Over all episodes of this process; `null` for as many as there are. */
  readonly requestsPerMinute: number | null
  /** Of a million tokens, read and written, in any one currency. `null` where nobody knows. */
  readonly prices: { readonly prompt: number; readonly completion: number } | null
  /** Asks for the ids of tokens and for log-probabilities. They are kept wherever they are given. */
  readonly tokenIds: boolean
  /** Seconds that one request may take, before it is made again. */
  readonly timeoutSeconds: number
}

/** Nothing but the model is said. */
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
