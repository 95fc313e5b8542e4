import type { Answer } from '../answers/parse-answer.ts'
import type { ChatBody } from '../requests/concessions.ts'

/** Sessions whose tokens a model has to ignore until it is sent none: an agent may change its conversation too. */
const MOST_IGNORED = 8
const TRIED_AGAIN = 256
/** Models that are counted apart. Agents name them. */
const MOST_MODELS = 64

interface Known {
  isUsed: boolean
  ignoredOf: Set<object>
  skipped: number
}

/**
 * Knows of each model behind an engine whether it begins prompts with the tokens that messages have. One session counts
 * once, so that no agent decides it for others.
 */
export class TokenUse {
  readonly #models = new Map<string, Known>()

  isTaken(model: string): boolean {
    const known = this.#models.get(model)
    return !known || known.isUsed || known.ignoredOf.size < MOST_IGNORED
  }

  learn(model: string, { messages }: ChatBody, { completion }: Answer, session: object): void {
    const known = this.#models.get(model) ?? { isUsed: false, ignoredOf: new Set(), skipped: 0 }
    if (known.isUsed) return
    if (!this.isTaken(model)) {
      known.skipped += 1
      if (known.skipped >= TRIED_AGAIN) this.#models.delete(model)
      return
    }
    const handed = messages.findLast((message) => 'generation_token_ids' in message)
    const { promptTokenIds: prompt } = completion
    if (!handed || !prompt) return
    const { prompt_token_ids: before, generation_token_ids: after } = handed as unknown as Record<string, number[]>
    known.isUsed = [...(before ?? []), ...(after ?? [])].every((id, at) => id === prompt[at])
    if (known.isUsed) known.ignoredOf.clear()
    else known.ignoredOf.add(session)
    if (this.#models.size >= MOST_MODELS) this.#models.clear()
    this.#models.set(model, known)
  }

  /** Forgets everything: another server may answer at the address of the engine. */
  forget(): void {
    this.#models.clear()
  }
}
