import type { Environment } from '@episodic/env'

/** Plays steps one after the other, and takes their times. */
export class HonestPlayer {
  readonly errors: unknown[] = []
  readonly #environment: Environment
  #ended = true

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Plays until `over` says so, and gives the milliseconds of each step. */
  async play(over: () => boolean): Promise<number[]> {
    const times: number[] = []
    while (!over()) {
      try {
        if (this.#ended) await this.#environment.reset({ params: { entries: 10_000 } })
        const began = performance.now()
        const { end } = await this.#environment.step({ tool: 'add', arguments: { amount: 1 } })
        times.push(performance.now() - began)
        this.#ended = end !== null
      } catch (error) {
        this.errors.push(error)
        this.#ended = true
      }
    }
    return times
  }
}
