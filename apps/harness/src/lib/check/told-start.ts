import { canonicalJson, type Json } from '@episodic/protocol'
import { leavesOf } from './json-leaves.ts'
import type { Beginning } from './private-pairs.ts'

/** A private value that can be read off a public one where the world begins. */
export interface ToldStart {
  readonly public: string
  readonly private: string
}

/** How unlikely an agreement has to be before it is no chance. */
const CHANCE = 1e-9

/**
 * Finds private values that a public value of the start decides: whenever the public one is the same, the private one
 * is too, more often than chance allows.
 *
 * With shares p of a private value's different readings, two independent draws agree with probability Σ p²; n of them
 * agree by chance with about (Σ p²)ⁿ, which has to be below one in a billion. Where neither repeats, the two are
 * compared as they are.
 */
export function findToldStarts(beginnings: readonly Beginning[]): ToldStart[] {
  const [open, hidden] = (['public', 'private'] as const).map((part) => columnsOf(beginnings.map((b) => b[part])))
  const told: ToldStart[] = []
  for (const [privatePath, privateColumn] of hidden as Columns)
    for (const [publicPath, publicColumn] of open as Columns)
      if (decides(publicColumn, privateColumn)) told.push({ public: publicPath, private: privatePath })
  return told
}

type Columns = ReadonlyMap<string, readonly string[]>

/** The values of every leaf that all states have, one for each state. */
function columnsOf(states: readonly Json[]): Columns {
  const columns = new Map<string, string[]>()
  for (const state of states)
    for (const { path, value } of leavesOf(state)) {
      const key = path.join('.')
      columns.set(key, [...(columns.get(key) ?? []), canonicalJson(value)])
    }
  return new Map([...columns].filter(([, values]) => values.length === states.length))
}

function decides(publicColumn: readonly string[], privateColumn: readonly string[]): boolean {
  const counts = new Map<string, number>()
  for (const value of privateColumn) counts.set(value, (counts.get(value) ?? 0) + 1)
  if (counts.size < 2) return false
  const agreement = [...counts.values()].reduce((sum, count) => sum + (count / privateColumn.length) ** 2, 0)
  const seen = new Map<string, string>()
  let repeats = 0
  for (const [i, value] of publicColumn.entries()) {
    const known = seen.get(value)
    if (known === undefined) seen.set(value, privateColumn[i] as string)
    else if (known === privateColumn[i]) repeats += 1
    else return false
  }
  if (agreement ** repeats < CHANCE) return true
  return agreement ** publicColumn.length < CHANCE && publicColumn.every((value, i) => value === privateColumn[i])
}
