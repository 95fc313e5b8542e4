import type { RunEntry } from '@episodic/report/view/run-entry'

export interface RunGroup {
  /** `null` for runs that belong to no set. */
  readonly set: string | null
  readonly runs: readonly RunEntry[]
}

/** Running runs come first, then the newest; a set stands where its first run would. */
export function groupRuns(runs: readonly RunEntry[]): RunGroup[] {
  const sorted = runs.toSorted(
    (a, b) =>
      Number(b.state === 'running') - Number(a.state === 'running') ||
      (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0),
  )
  const groups = Map.groupBy(sorted, ({ set, id }) => (set === null ? `run ${id}` : `set ${set}`))
  return [...groups.values()].map((group) => ({ set: group[0]?.set ?? null, runs: group }))
}

/** Runs in whose name, set, world, player or state each of the words stands, in upper or lower case. */
export function filterRuns(runs: readonly RunEntry[], query: string): RunEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return runs.filter(({ name, id, set, member, environments, players, state }) => {
    const text = [name, id, set, member?.player, ...environments, ...players, state].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** A set in one line: sums over its runs. `null` where no run knows. */
export function sumRuns(runs: readonly RunEntry[]) {
  const sum = (read: (run: RunEntry) => number | null) =>
    runs.reduce<number | null>((total, run) => {
      const value = read(run)
      return value === null ? total : (total ?? 0) + value
    }, null)
  const known = runs.filter(({ cost, unpriced }) => cost !== null || unpriced).length
  return {
    scheduled: sum(({ scheduled }) => scheduled) ?? 0,
    finished: sum(({ finished }) => finished) ?? 0,
    failed: sum(({ failed }) => failed) ?? 0,
    tokens: sum(({ tokens }) => tokens),
    cost: sum(({ cost, unpriced }) => cost ?? unpriced?.cost ?? null),
    /** Whether some run asked models at a cost that is not known, so that the whole cost is more. */
    atLeast: known > 0 && runs.some(({ cost, tokens }) => cost === null && tokens !== null),
    createdAt:
      runs
        .map(({ createdAt }) => createdAt)
        .sort()
        .at(-1) ?? '',
    worlds: [...new Set(runs.flatMap(({ environments }) => environments))],
    players: [...new Set(runs.flatMap(({ member, players }) => member?.player ?? players))],
  }
}
