import type { Json } from '@episodic/protocol'
import { type LeafDifference, leafDifferences } from '../leaf-differences.ts'
import type { PlayLine } from './line.ts'

/** The place of a leaf in any row of its list. */
const toPlace = (path: string) => path.replace(/\.\d+(?=\.|$)/g, '.*')

/**
 * Distinguishes the states of a task. Two leaves of a state say little: a counter changes by the same amount with every
 * step, and a log is a list that only grows.
 */
export class StateParts {
  readonly #counters = new Set<string>()
  readonly #logs = new Set<string>()
  readonly #keys = new WeakMap<object, string>()

  /** @param walks - lines of the task in which such leaves are recognized. */
  constructor(walks: readonly PlayLine[]) {
    // A refused step leaves the very same state.
    const transitions = walks
      .flatMap(({ states }) => states.map((state, at) => leafDifferences(states[at - 1] ?? state, state)))
      .filter(({ size }) => size > 0)
    const moved = Map.groupBy(
      transitions.flatMap((changes) => [...changes].map(([leaf, change]) => ({ leaf, ...change }))),
      ({ leaf }) => toPlace(leaf),
    )
    for (const [place, changes] of moved) {
      const by = new Set(changes.map(({ from, to }) => (typeof from === 'number' ? Number(to) - from : null)))
      if (by.size === 1 && !by.has(null) && changes.length === transitions.length && changes.length > 1)
        this.#counters.add(place)
      if (changes.every(({ from, leaf }) => from === undefined && leaf !== place)) this.#logs.add(place)
    }
  }

  /** Returns equal texts for states that differ in counters alone. */
  keyOf(line: PlayLine, at = line.states.length - 1): string {
    const state = line.states[at] as object
    const known = this.#keys.get(state)
    if (known !== undefined) return known
    const key = JSON.stringify([...this.changedBy(line, at)].map(([path, { to }]): Json => [path, to ?? null]).sort())
    this.#keys.set(state, key)
    return key
  }

  /** What a line has changed and not put back, by places, without counters. */
  changedBy({ states }: PlayLine, at = states.length - 1): ReadonlyMap<string, LeafDifference> {
    const changes = [...leafDifferences(states[0], states[at])]
    return new Map(changes.filter(([path]) => !this.#counters.has(toPlace(path))))
  }

  /**
   * Whether all that is no counter is the same as in an earlier state, and it was paid; or there is more of something.
   *
   * @param mode - 0: there may be no more; 1: there may; 2: logs are left out, too.
   */
  comesBack({ states, rewards }: PlayLine, from: number, to = states.length - 1, mode = 2): boolean {
    let isMore = rewards.slice(from, to).reduce((sum, reward) => sum + reward, 0) > 0
    for (const [path, change] of leafDifferences(states[from], states[to])) {
      const place = toPlace(path)
      if (this.#counters.has(place) || (mode === 2 && this.#logs.has(place))) continue
      if (mode === 0 || typeof change.from !== 'number' || !(Number(change.to) > change.from)) return false
      isMore = true
    }
    return isMore
  }
}
