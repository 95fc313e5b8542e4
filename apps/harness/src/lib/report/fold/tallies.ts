import type { Tally } from './summary.ts'

/** Counts episodes by name. */
export interface Tallies {
  add(name: string): void
  /** Most frequent first, then by name. */
  ranked(): Tally[]
}

export function createTallies(): Tallies {
  const counts = new Map<string, number>()
  return {
    add: (name) => void counts.set(name, (counts.get(name) ?? 0) + 1),
    ranked: () =>
      [...counts]
        .map(([name, count]) => ({ name, count }))
        .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)),
  }
}
