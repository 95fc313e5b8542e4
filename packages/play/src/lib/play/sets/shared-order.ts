import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import type { PlaceInOrder } from '../episodes/run-plan.ts'

/** Tasks that a run may be ahead of the slowest one. */
const AHEAD = 8

/** The place of one run. Disposing it gives it up. */
interface OrderPlace extends PlaceInOrder, Disposable {}

/**
 * Makes runs of the same tasks play them together: no run starts a task more than eight ahead of the task that the
 * slowest one starts. So most tasks of an interrupted set have been played by all.
 */
export class SharedOrder {
  /** The position of the next task of each run that the others wait for. */
  readonly #next = new Map<object, number>()
  #changed = Promise.withResolvers<void>()

  /** Joins at the first task. Join for every run before the first one plays. */
  join(): OrderPlace {
    const place = {}
    let position = 0
    this.#next.set(place, position)
    return {
      untilTurn: async ({ position: next = position }: PlannedEpisode, signal: AbortSignal) => {
        position = next
        if (this.#next.has(place)) this.#move(() => this.#next.set(place, position))
        const wake = () => this.#move(() => {})
        signal.addEventListener('abort', wake)
        while (!signal.aborted && position > Math.min(...this.#next.values()) + AHEAD) await this.#changed.promise
        signal.removeEventListener('abort', wake)
      },
      setWaitedFor: (isWaitedFor) =>
        this.#move(() => (isWaitedFor ? this.#next.set(place, position) : this.#next.delete(place))),
      [Symbol.dispose]: () => this.#move(() => this.#next.delete(place)),
    }
  }

  #move(change: () => void): void {
    change()
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
