import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { McpError } from '../mcp-error.ts'
import { answerElicitation, type Elicit } from './elicitation.ts'

const MOST_QUESTIONS = 16

export interface InputOptions {
  /** Answers the questions of the server. Without it, a question fails the call. */
  readonly elicit: Elicit | undefined
  readonly questions: number
  readonly signal: AbortSignal | undefined
}

/** An answer in the stateless protocol that asks for input first. */
const inputRequiredSchema = z.object({
  resultType: z.literal('input_required'),
  inputRequests: z
    .record(z.string(), z.object({ method: z.string(), params: jsonObjectSchema.optional() }))
    .default({}),
  requestState: z.string().optional(),
})

/**
 * Makes a stateless call, answers the server's questions, and resolves with the result.
 *
 * Rejects with `refused` for a question that this client cannot answer, and after more than `questions` questions; with
 * `malformed` for an invalid question.
 */
export async function callWithInput(
  call: (params: JsonObject) => Promise<unknown>,
  params: JsonObject,
  { elicit, questions, signal }: InputOptions,
): Promise<unknown> {
  let result = await call(params)
  let asked = 0
  while ((result as { resultType?: unknown } | null)?.resultType === 'input_required') {
    const parsed = inputRequiredSchema.safeParse(result)
    if (!parsed.success)
      throw new McpError('malformed', 'The server asks for input before it answers, and does not say for what.')
    const { inputRequests, requestState } = parsed.data
    // A round without a question counts too, so that a server cannot loop without end.
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

/** Returns the bound on questions, or the default. Throws `option-invalid`. */
export function questionsAllowed(questions: number = MOST_QUESTIONS): number {
  if (Number.isSafeInteger(questions) && questions >= 0) return questions
  throw new McpError('option-invalid', `questions is ${questions}, and has to be a whole number, 0 or more.`)
}

function tooManyQuestions(questions: number): McpError {
  return new McpError(
    'refused',
    `The server asked for input more than ${questions} times before it answered one call, and was not answered any further. A server that has to ask more often needs a higher questions option.`,
    { details: { retryable: false, questions } },
  )
}

function nobodyAnswers(method: string): McpError {
  return new McpError(
    'refused',
    `The server asks for ${method} before it answers, and nobody here answers that. Give the channel an elicit for elicitation/create.`,
    { details: { retryable: false } },
  )
}

/**
 * Bounds the questions of a session-based server during calls. Such a question is a separate request that names no
 * call. So all pending calls share the count: `questions` for each call, reset by each answer.
 */
export class QuestionBudget {
  readonly #questions: number
  readonly #waiting = new Set<AbortController>()
  #asked = 0

  constructor(questions: number) {
    this.#questions = questions
  }

  /** Makes a call. Rejects with `refused` if the server asks too often before it answers. */
  async call<T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const asked = new AbortController()
    this.#waiting.add(asked)
    try {
      return await call(signal ? AbortSignal.any([signal, asked.signal]) : asked.signal)
    } catch (error) {
      signal?.throwIfAborted()
      throw asked.signal.aborted ? asked.signal.reason : error
    } finally {
      this.#waiting.delete(asked)
      this.#asked = 0
    }
  }

  count(): void {
    this.#asked += 1
    if (this.#asked <= this.#questions * Math.max(1, this.#waiting.size)) return
    const error: McpError = tooManyQuestions(this.#questions)
    for (const call of this.#waiting) call.abort(error)
    throw error
  }
}
