import type { Rng } from '@episodic/protocol'

export interface Experience {
  readonly state: string
  readonly action: number
  readonly reward: number
}

/** γ, a little below 1 to prefer shorter episodes. */
const DISCOUNT = 0.99
/** The smallest learning rate: averages over some fifty visits. */
const LEAST_STEP = 0.02
/** λ: the weight of the observed return in a target; the rest is the table's estimate. */
const TRACE = 0.5

/**
 * Tabular Q(λ): Q(s, a) ← Q(s, a) + α (G − Q(s, a)), with α = 1/n for the n-th visit down to a minimum, and G = r + γ
 * (λ G′ + (1 − λ) maxₐ′ Q(s′, a′)), where G′ is the target of the next step. Updates run backwards over a finished
 * episode. With λ > 0, rows that merge several states mislead it less.
 *
 * Watkins & Dayan, "Q-learning" (1992); Peng & Williams, "Incremental multi-step Q-learning" (1994).
 */
export class TabularLearner {
  readonly #actions: number
  readonly #rows = new Map<string, { readonly values: Float64Array; readonly visits: Uint32Array }>()

  constructor(actions: number) {
    this.#actions = actions
  }

  get states(): number {
    return this.#rows.size
  }

  choose(state: string, exploration: number, rng: Rng): number {
    const row = this.#rows.get(state)
    if (!row || rng.float() < exploration) return rng.int(0, this.#actions - 1)
    let best = rng.int(0, this.#actions - 1)
    for (let action = 0; action < this.#actions; action++)
      if ((row.values[action] as number) > (row.values[best] as number)) best = action
    return best
  }

  learn(episode: readonly Experience[], next: string | null): void {
    let expected = next === null ? 0 : this.#best(next)
    for (const { state, action, reward } of episode.toReversed()) {
      const row = this.#row(state)
      const visits = (row.visits[action] as number) + 1
      row.visits[action] = visits
      const value = row.values[action] as number
      const target = reward + DISCOUNT * expected
      row.values[action] = value + Math.max(1 / visits, LEAST_STEP) * (target - value)
      expected = TRACE * target + (1 - TRACE) * this.#best(state)
    }
  }

  #best(state: string): number {
    const row = this.#rows.get(state)
    return row ? row.values.reduce((best, value) => Math.max(best, value)) : 0
  }

  #row(state: string) {
    let row = this.#rows.get(state)
    if (!row) {
      row = { values: new Float64Array(this.#actions), visits: new Uint32Array(this.#actions) }
      this.#rows.set(state, row)
    }
    return row
  }
}
