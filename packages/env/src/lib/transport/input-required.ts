import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'
import { answerElicitation, type Elicit } from './elicitation.ts'

/** Questions that a server may ask before it answers one call, unless the caller says otherwise. */
export const MOST_QUESTIONS = 16

export interface InputOptions {
  /** Answers the questions of the server. Left out, a question fails the call. */
  readonly elicit: Elicit | undefined
  /** Questions that the server may ask before it answers. */
  readonly questions: number
  readonly signal: AbortSignal | undefined
}

/** What a server of the modern era asks for before it answers a call. */
const inputRequiredSchema = z.object({
  resultType: z.literal('input_required'),
  inputRequests: z
    .record(z.string(), z.object({ method: z.string(), params: jsonObjectSchema.optional() }))
    .default({}),
  /** Goes back as it came. */
  requestState: z.string().optional(),
})

/**
 * Makes a call of the modern era, answers what the server asks before it answers, and resolves with its answer.
 *
 * Rejects with `connection-failed` for a question that this client cannot answer, and where the server asks more than
 * `questions` times; with `reply-malformed` for a question that is none.
 */
export async function callWithInput(
  call: (params: JsonObject) => Promise<unknown>,
  params: JsonObject,
  { elicit, questions, signal }: InputOptions,
): Promise<unknown> {
  let result = await call(params)
  let asked = 0
  while (asksForInput(result)) {
    const parsed = inputRequiredSchema.safeParse(result)
    if (!parsed.success)
      throw new EnvError('reply-malformed', 'The server asks for input before it answers, and does not say for what.')
    const { inputRequests, requestState } = parsed.data
    // A round in which nothing is asked counts too: it is sent back and forth all the same.
    asked += Math.max(1, Object.keys(inputRequests).length)
    if (asked > questions) throw tooManyQuestions(questions)
    const inputResponses: Record<string, JsonObject> = {}
    for (const [key, { method, params: question = {} }] of Object.entries(inputRequests)) {
      if (method !== 'elicitation/create' || !elicit) throw nobodyAnswers(method)
      inputResponses[key] = await answerElicitation(elicit, question, signal)
    }
    result = await call({ ...params, inputResponses, ...(requestState !== undefined && { requestState }) })
  }
  return result
}

function asksForInput(result: unknown): boolean {
  return (result as { resultType?: unknown } | null)?.resultType === 'input_required'
}

/** Checks the bound of a caller. Throws `option-invalid`. */
export function questionsAllowed(questions: number = MOST_QUESTIONS): number {
  if (Number.isSafeInteger(questions) && questions >= 0) return questions
  throw new EnvError('option-invalid', `questions is ${questions}, and has to be a whole number, 0 or more.`)
}

/** How a call fails whose server asks without end. */
export function tooManyQuestions(questions: number): EnvError {
  return new EnvError(
    'connection-failed',
    `The server asked for input more than ${questions} times before it answered one call, and was not answered any further. A server that has to ask more often needs a higher questions option.`,
    { details: { retryable: false, questions } },
  )
}

function nobodyAnswers(method: string): EnvError {
  return new EnvError(
    'connection-failed',
    `The server asks for ${method} before it answers, and nobody here answers that. Give the channel an elicit for elicitation/create.`,
    { details: { retryable: false } },
  )
}
