import type { JsonObject } from '@episodic/protocol'
import { answerElicitation, type Elicit } from './elicitation.ts'
import { EnvError } from './env-error.ts'

/** What a server of the modern era asks for before it answers a call. */
interface InputRequired {
  readonly inputRequests?: { readonly [key: string]: { readonly method: string; readonly params?: JsonObject } }
  /** Goes back as it came. */
  readonly requestState?: string
}

/**
 * The parameters of the same call with what the server wants to know, or `null` for a result in which it wants to know
 * nothing. Rejects with `connection-failed` for a question that nobody here answers.
 */
export async function answerQuestions(
  result: unknown,
  params: JsonObject,
  elicit: Elicit | undefined,
  signal: AbortSignal | undefined,
): Promise<JsonObject | null> {
  if ((result as { resultType?: unknown } | null)?.resultType !== 'input_required') return null
  const { inputRequests = {}, requestState } = result as InputRequired
  const inputResponses: Record<string, JsonObject> = {}
  for (const [key, { method, params: asked = {} }] of Object.entries(inputRequests)) {
    if (method !== 'elicitation/create' || !elicit) throw nobodyAnswers(method)
    inputResponses[key] = await answerElicitation(elicit, asked, signal)
  }
  return { ...params, inputResponses, ...(requestState !== undefined && { requestState }) }
}

/** How often a server may ask before it answers one call. */
export const MOST_QUESTIONS = 16

export function asksTooOften(): EnvError {
  return new EnvError('connection-failed', `The server asked ${MOST_QUESTIONS} times before answering one call.`, {
    details: { retryable: false },
  })
}

function nobodyAnswers(method: string): EnvError {
  return new EnvError(
    'connection-failed',
    `The server asks for ${method} before it answers, and nobody here answers that. Give the channel an elicit for elicitation/create.`,
    { details: { retryable: false } },
  )
}
