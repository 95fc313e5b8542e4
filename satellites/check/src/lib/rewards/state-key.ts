import type { Json, JsonObject } from '@episodic/protocol'
import { leavesOf } from '../walk-json.ts'

/** A number is a clock if it moves in the same direction in at least this share of the steps. */
const CLOCK = 0.9

/** Bins for the range of a number that runs down. */
const PARTS = 4

/**
 * Returns the function from public states to table rows. It merges states that probably call for the same action:
 * arrays of varying length count as sets, numbers that only count up are dropped, and numbers that run down are binned.
 *
 * @param walks - the public states of some episodes, in which such numbers and arrays are recognized.
 */
export function stateKeyOf(walks: readonly (readonly JsonObject[])[]): (state: JsonObject) => string {
  const clocks = findClocks(walks)
  const boards = findBoards(walks)
  const reduce = (value: Json, path: string): Json => {
    const width = clocks.get(path)
    if (width !== undefined) return width === 0 ? null : Math.ceil(Number(value) / width)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      const members = value.map((inner) => JSON.stringify(reduce(inner as Json, `${path}[]`)))
      return boards.has(path) ? members : members.sort()
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, reduce(inner as Json, path === '' ? key : `${path}.${key}`)]),
    )
  }
  return (state) => JSON.stringify(reduce(state, ''))
}

/** The arrays of constant length, for example the squares of a board: positions in them may matter. */
function findBoards(walks: readonly (readonly JsonObject[])[]): ReadonlySet<string> {
  const lengths = new Map<string, Set<number>>()
  const note = (value: Json, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) lengths.set(path, (lengths.get(path) ?? new Set()).add(value.length))
    for (const [key, inner] of Object.entries(value))
      note(inner as Json, Array.isArray(value) ? `${path}[]` : path === '' ? key : `${path}.${key}`)
  }
  for (const state of walks.flat()) note(state, '')
  return new Set([...lengths].flatMap(([path, found]) => (found.size === 1 ? [path] : [])))
}

/** The numbers that change in the same direction in nearly every step, with the width of their bins; 0 to drop one. */
function findClocks(walks: readonly (readonly JsonObject[])[]): ReadonlyMap<string, number> {
  const moves = new Map<string, { up: number; down: number; still: number; low: number; high: number }>()
  for (const walk of walks)
    for (let i = 1; i < walk.length; i++) {
      const before = new Map(leavesOf(walk[i - 1] as JsonObject).map(({ path, value }) => [path.join('.'), value]))
      for (const { path, value } of leavesOf(walk[i] as JsonObject)) {
        const place = path.join('.')
        const earlier = before.get(place)
        if (typeof value !== 'number' || typeof earlier !== 'number') continue
        const move = moves.get(place) ?? { up: 0, down: 0, still: 0, low: value, high: value }
        moves.set(place, move)
        move[value > earlier ? 'up' : value < earlier ? 'down' : 'still'] += 1
        move.low = Math.min(move.low, value, earlier)
        move.high = Math.max(move.high, value, earlier)
      }
    }
  const clocks = new Map<string, number>()
  for (const [place, { up, down, still, low, high }] of moves) {
    const all = up + down + still
    if (up >= CLOCK * all) clocks.set(place, 0)
    else if (down >= CLOCK * all) clocks.set(place, (high - low) / PARTS)
  }
  return clocks
}
