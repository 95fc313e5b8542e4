import type { EnvError } from '../env-error.ts'
import { tooManyQuestions } from './input-required.ts'

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

  /** Makes a call. Rejects with `connection-failed` if the server asks too often before it answers. */
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

  /** Counts a question. If it is one too many, throws and rejects every pending call. */
  count(): void {
    this.#asked += 1
    if (this.#asked <= this.#questions * Math.max(1, this.#waiting.size)) return
    const error: EnvError = tooManyQuestions(this.#questions)
    for (const call of this.#waiting) call.abort(error)
    throw error
  }
}
