import type { Json, JsonObject } from '@episodic/protocol'
import { leavesOf } from '../json-leaves.ts'

/** How much of a number's movement has to be in one direction, and in how many steps, for it to be a clock. */
const CLOCK = 0.9

/** Into how many parts the range of a number is cut that runs down. */
const PARTS = 4

/**
 * Makes the key under which a table keeps a public state, so that states which ask for the same action are more often the
 * same: lists that grow or shrink are sets, numbers that only count up are left out, and those that run down are told roughly. `walks` are
 * the public states of some episodes, by which such numbers are known.
 */
export function featuresOf(walks: readonly (readonly JsonObject[])[]): (state: JsonObject) => string {
  const clocks = findClocks(walks)
  const boards = findBoards(walks)
  const reduce = (value: Json, path: string): Json => {
    const clock = clocks.get(path)
    if (clock) return clock.step === 0 ? null : Math.ceil(Number(value) / clock.step)
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

/** The lists that always have the same length, such as the squares of a board: what stands where may matter. */
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

/** A number that counts the steps. What it is told to the nearest of; 0 for one that is not told. */
interface Clock {
  readonly step: number
}

/** The numbers that nearly every step moves, and nearly always the same way. */
function findClocks(walks: readonly (readonly JsonObject[])[]): ReadonlyMap<string, Clock> {
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
  const clocks = new Map<string, Clock>()
  for (const [place, { up, down, still, low, high }] of moves) {
    const all = up + down + still
    if (up >= CLOCK * all) clocks.set(place, { step: 0 })
    else if (down >= CLOCK * all) clocks.set(place, { step: (high - low) / PARTS })
  }
  return clocks
}
