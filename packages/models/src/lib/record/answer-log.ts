import type { ModelAnswer } from '@episodic/env'
import type { JsonObject, ModelRequest } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/internal'

/** An answer of a language model, and when it was complete, by the clock of `monotonic`. */
export interface TimedAnswer {
  readonly answer: ModelAnswer
  readonly ended: number
}

const MOST_ANSWERS = 10_000
/** Most characters of messages, tools and answers of one episode in memory. */
const MOST_CHARACTERS = 64 * 1024 ** 2

/**
 * The answers of language models in one episode, as they come: at most 10,000, the first ones. Beyond 64 Mi characters
 * of messages and answers only the figures of an answer are kept, and `cut` counts what is missing.
 */
export class AnswerLog {
  readonly #answers: TimedAnswer[] = []
  readonly #messages = new Pool()
  readonly #tools = new Pool()
  #characters = 0

  get answers(): readonly TimedAnswer[] {
    return this.#answers
  }

  /** Returns a request that shares its messages and tools with earlier ones; `undefined` if there is no room for it. */
  share({ messages, tools }: ModelRequest): ModelRequest | undefined {
    if (this.#used > MOST_CHARACTERS) return undefined
    return { messages: this.#messages.share(messages), tools: this.#tools.share(tools) }
  }

  add({ request, ...answer }: ModelAnswer, ended: number = monotonic()): void {
    if (this.#answers.length >= MOST_ANSWERS) return
    this.#answers.push({ answer: { ...this.#withinBounds(answer), ...(request && { request }) }, ended })
  }

  get #used(): number {
    return this.#characters + this.#messages.characters + this.#tools.characters
  }

  #withinBounds(answer: ModelAnswer): ModelAnswer {
    const length = JSON.stringify(answer).length
    if (this.#used + length <= MOST_CHARACTERS) {
      this.#characters += length
      return answer
    }
    const { text, reasoning = '', calls = [], promptTokenIds: _, tokenIds: __, logProbabilities: ___, ...rest } = answer
    const cut = [text ?? '', reasoning, ...calls.map((call) => call.arguments)].join('').length
    return { ...rest, text: null, ...(cut > 0 && { cut }) }
  }
}

/**
 * Holds equal values of requests once: a conversation is sent again with each request, and would take the square of its
 * length. The n-th occurrence of a value in a request is the same object as its n-th one in another.
 */
class Pool {
  readonly #objects = new Map<string, JsonObject[]>()
  characters = 0

  share(values: readonly JsonObject[]): JsonObject[] {
    const met = new Map<string, number>()
    return values.map((value) => {
      const text = JSON.stringify(value)
      const occurrence = met.get(text) ?? 0
      met.set(text, occurrence + 1)
      const same = this.#objects.get(text) ?? []
      if (same.length === 0) this.#objects.set(text, same)
      if (occurrence === same.length) {
        same.push(value)
        this.characters += text.length
      }
      return same[occurrence] as JsonObject
    })
  }
}
