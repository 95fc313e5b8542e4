import type { Json } from '@episodic/protocol'
import { leafDifferences } from '../leaf-differences.ts'
import type { PlayLine } from './line.ts'

/** Which leaves are left out: counters; numbers that drift too; logs too. */
export type Looseness = 0 | 1 | 2

/**
 * Distinguishes the states of a task. Two leaves of a state say little: a counter changes by the same amount with every
 * step, and one that drifts goes in one direction alone, as a score or a log does.
 */
export class StateParts {
  readonly #counters = new Set<string>()
  readonly #drifting = new Set<string>()
  readonly #keys = new WeakMap<object, string[]>()

  /** @param walks - lines of the task in which such leaves are recognized. */
  constructor(walks: readonly PlayLine[]) {
    const moved = new Map<string, { changes: number; by: Set<number>; up: number; down: number; other: number }>()
    let transitions = 0
    for (const { states } of walks)
      for (let i = 1; i < states.length; i++) {
        // A refused step leaves the very same state.
        if (states[i] === states[i - 1]) continue
        const changes = leafDifferences(states[i - 1], states[i])
        if (changes.size > 0) transitions += 1
        for (const [path, { from, to }] of changes) {
          const place = toPlace(path)
          const seen = moved.get(place) ?? { changes: 0, by: new Set(), up: 0, down: 0, other: 0 }
          moved.set(place, seen)
          const by = typeof from === 'number' && typeof to === 'number' ? to - from : null
          seen.changes += 1
          if (by !== null) seen.by.add(by)
          if (by !== null) seen[by > 0 ? 'up' : 'down'] += 1
          // A list that only grows is a log.
          else if (from !== undefined || place === path) seen.other += 1
        }
      }
    for (const [place, { changes, by, up, down, other }] of moved) {
      if (other > 0) continue
      if (by.size === 1 && changes === transitions && transitions > 1) this.#counters.add(place)
      if (up === 0 || down === 0) this.#drifting.add(place)
    }
  }

  /** Returns equal texts for states that differ in counters alone; or, the looser, also in what drifts. */
  keyOf({ states, attempt }: PlayLine, looseness: Looseness = 0, at = states.length - 1): string {
    const state = states[at]
    if (!state)
      return attempt.stateHash ?? JSON.stringify([attempt.turn, attempt.view(attempt.turn[0]).observation.text])
    const known = this.#keys.get(state) ?? []
    this.#keys.set(state, known)
    known[looseness] ??= JSON.stringify(
      [...leafDifferences(states[0], state)]
        .filter(([path]) => !this.#isLeftOut(toPlace(path), looseness))
        .map(([path, { to }]): Json => [path, to ?? null])
        .sort(),
    )
    return known[looseness] as string
  }

  /** The places that a line has changed and not put back, without counters. */
  changedBy({ states }: PlayLine): ReadonlySet<string> {
    const paths = [...leafDifferences(states[0], states.at(-1)).keys()]
    return new Set(paths.filter((path) => !this.#isLeftOut(toPlace(path), 0)))
  }

  #isLeftOut(place: string, looseness: Looseness): boolean {
    if (this.#counters.has(place)) return true
    return looseness > 0 && this.#drifting.has(place) && (looseness === 2 || !place.includes('*'))
  }
}

/** The place of a leaf in any row of its list. */
function toPlace(path: string): string {
  return path.replace(/\.\d+(?=\.|$)/g, '.*')
}
