import type { Proportion } from './statistics.ts'
import { wilson } from './statistics.ts'
import type { Tally } from './summary.ts'

/** Counts episodes, and the successful ones among them, by group. */
export interface Tallies<Group> {
  add(group: Group, success?: boolean): void
  /** Successes among a group's episodes. */
  proportion(group: Group): Proportion
  /** Groups that were added, in ascending order. */
  groups(): Group[]
  /** Most frequent first, then by name. */
  ranked(): Tally[]
}

export function createTallies<Group extends string | number>(): Tallies<Group> {
  const tallies = new Map<Group, { count: number; successes: number }>()
  const groups = () => [...tallies.keys()].sort((a, b) => (a < b ? -1 : 1))
  return {
    add(group, success = false) {
      const tally = tallies.get(group) ?? { count: 0, successes: 0 }
      tallies.set(group, tally)
      tally.count += 1
      if (success) tally.successes += 1
    },
    proportion(group) {
      const { count, successes } = tallies.get(group) ?? { count: 0, successes: 0 }
      return wilson(successes, count)
    },
    groups,
    ranked: () =>
      groups()
        .map((group) => ({ name: String(group), count: tallies.get(group)?.count ?? 0 }))
        .sort((a, b) => b.count - a.count),
  }
}
