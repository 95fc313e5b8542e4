import { canonicalJson, type Json, type JsonObject } from '@episodic/protocol'
import { leavesOf } from '../json-leaves.ts'

/** Something that can be read off every public state of a list: a value, a length, an order. */
export interface Reading {
  /** What is read, as in "public.high" or "the length of public.moves". */
  readonly what: string
  /** Whether all states have the same members there, so that their order alone is read. */
  readonly order: boolean
  /** The reading of each state, in the order of the states. Equal texts are equal readings. */
  readonly values: readonly string[]
}

/**
 * Everything that can be read off public states: their values, and of each list and object its length, its members and their
 * order. What not all states have is left out.
 */
export function publicReadings(states: readonly JsonObject[]): Reading[] {
  const values = [...columnsOf(states)].map(([path, column]) => ({
    what: `public.${path}`,
    order: false,
    values: column,
  }))
  return [...values, ...collectionReadings(states)]
}

/** The values of every leaf that all states have, one for each state, by the path of the leaf. */
export function columnsOf(states: readonly Json[]): ReadonlyMap<string, readonly string[]> {
  return commonTo(states, (state) => leavesOf(state).map(({ path, value }) => [path.join('.'), canonicalJson(value)]))
}

function collectionReadings(states: readonly JsonObject[]): Reading[] {
  const collections = commonTo(states, (state) => collectionsOf(state, 'public'))
  return [...collections].flatMap(([place, found]) => {
    const members = found.map((collection) =>
      Array.isArray(collection) ? collection.map((member) => canonicalJson(member as Json)) : Object.keys(collection),
    )
    const name = Array.isArray(found[0]) ? place : `the keys of ${place}`
    const order = new Set(members.map((each) => JSON.stringify(each.toSorted()))).size === 1
    return [
      { what: `the length of ${place}`, order: false, values: members.map(({ length }) => String(length)) },
      { what: order ? `the order of ${name}` : name, order, values: members.map((each) => JSON.stringify(each)) },
    ]
  })
}

type Collection = readonly Json[] | JsonObject

/** A state's lists and objects, itself included. */
function collectionsOf(value: Json, place: string): [string, Collection][] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, member]) => collectionsOf(member as Json, `${place}.${key}`))
  return [[place, value], ...inner]
}

/** What is found in all states, one for each, by where it was found. */
function commonTo<State, Found>(
  states: readonly State[],
  find: (state: State) => readonly (readonly [string, Found])[],
): ReadonlyMap<string, readonly Found[]> {
  const columns = new Map<string, Found[]>()
  for (const state of states)
    for (const [place, found] of find(state)) {
      const column = columns.get(place)
      if (column) column.push(found)
      else columns.set(place, [found])
    }
  return new Map([...columns].filter(([, column]) => column.length === states.length))
}
