import type { Policy } from '@episodic/env'
import { canonicalJson, type Json, type JsonObject } from '@episodic/protocol'
import { rehearseEpisode } from '../rehearsed-episode.ts'
import { waywardPolicy } from '../wayward-policy.ts'
import type { TableStart, TableWorld } from './table-rollout.ts'

/**
 * A table with what the solver plays most often in each row, as the number of an action. What it earns says whether rows tell
 * apart the states in which the solver plays differently: where they do not, no table can show what there is to learn.
 */
export async function copySolver(
  { world: { environment }, setting, actions, features }: TableWorld,
  solver: Policy,
  starts: readonly TableStart[],
): Promise<ReadonlyMap<string, number>> {
  // In a swapped private state a solver may lose its way; then it goes on at random.
  const policy = waywardPolicy(solver, { random: 0, wrong: 0 })
  const numbers = new Map(actions.map((action, i) => [keyOf(action), i]))
  const rows = new Map<string, Map<number, number>>()
  for (const start of starts) {
    const { rehearsal, steps } = await rehearseEpisode({ environment, setting, policy, ...start })
    let open: JsonObject = rehearsal.start.state.public
    for (const { action, change } of steps) {
      const number = numbers.get(keyOf(action))
      const row = rows.get(features(open)) ?? new Map<number, number>()
      if (number !== undefined) rows.set(features(open), row.set(number, (row.get(number) ?? 0) + 1))
      if (change) open = change.state.public
    }
  }
  return new Map([...rows].map(([row, counts]) => [row, mostOften(counts)]))
}

function mostOften(counts: ReadonlyMap<number, number>): number {
  return [...counts].reduce((most, next) => (next[1] > most[1] ? next : most))[0]
}

function keyOf(action: object): string {
  return canonicalJson(action as Json)
}
