import type { EnvError } from '../env-error.ts'
import { tooManyQuestions } from './input-required.ts'

/**
 * Bounds what a server of the era before 2026 asks during calls. Such a question is a request of its own that names no
 * call, so the questions are counted against all calls that are waiting: `questions` for each, anew after each answer.
 */
export class QuestionBudget {
  readonly #questions: number
  readonly #waiting = new Set<AbortController>()
  #asked = 0

  constructor(questions: number) {
    this.#questions = questions
  }

  /** Makes a call. Rejects with `connection-failed` where the server asks too often before it answers. */
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

  /** Counts a question. Throws, and fails every waiting call, where it is one too many. */
  count(): void {
    this.#asked += 1
    if (this.#asked <= this.#questions * Math.max(1, this.#waiting.size)) return
    const error: EnvError = tooManyQuestions(this.#questions)
    for (const call of this.#waiting) call.abort(error)
    throw error
  }
}
