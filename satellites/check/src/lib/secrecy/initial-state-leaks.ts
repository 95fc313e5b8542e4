import { canonicalJson, type Json, type JsonObject } from '@episodic/protocol'
import { leavesOf } from '../walk-json.ts'

export interface StartParts {
  readonly public: JsonObject
  readonly private: JsonObject
}

export interface InitialStateLeak {
  readonly feature: string
  readonly private: string
  /**
   * `all` if the feature determines the private value; `order` if the private value determines the order of the same
   * members; `part` if it determines any other feature, which narrows the private value down.
   */
  readonly reveals: 'all' | 'order' | 'part'
}

/** Coincidences less likely than this are leaks. */
const CHANCE = 1e-9

/**
 * Finds private values that determine, or are determined by, a feature of the initial public state, beyond chance.
 * Reports the first feature for each private value and direction.
 */
export function findInitialStateLeaks(starts: readonly StartParts[]): InitialStateLeak[] {
  const open = starts.map((start) => start.public)
  const values = [...columnsOf(open)].map(([path, values]) => ({ name: `public.${path}`, order: false, values }))
  const features: readonly Feature[] = [...values, ...collectionFeatures(open)]
  const leaks: InitialStateLeak[] = []
  for (const [path, column] of columnsOf(starts.map((start) => start.private))) {
    const determining = features.find(({ values }) => determines(values, column))
    if (determining) leaks.push({ feature: determining.name, private: path, reveals: 'all' })
    else
      for (const order of [true, false]) {
        const determined = features.find((feature) => feature.order === order && determines(column, feature.values))
        if (determined) leaks.push({ feature: determined.name, private: path, reveals: order ? 'order' : 'part' })
      }
  }
  return leaks
}

/**
 * Whether the second column is a function of the first, beyond chance.
 *
 * If the values of the second have shares p, two independent draws agree with probability Σ p², and n pairs of draws
 * all agree with about (Σ p²)ⁿ, which has to be below one in a billion. If no value repeats, the columns have to be
 * equal.
 */
function determines(first: readonly string[], second: readonly string[]): boolean {
  const equal = Map.groupBy(second, (value) => value)
  if (equal.size < 2) return false
  const agreement = [...equal.values()].reduce((sum, { length }) => sum + (length / second.length) ** 2, 0)
  const seen = new Map<string, string>()
  let repeats = 0
  for (const [i, value] of first.entries()) {
    const known = seen.get(value)
    if (known === undefined) seen.set(value, second[i] as string)
    else if (known === second[i]) repeats += 1
    else return false
  }
  if (agreement ** repeats < CHANCE) return true
  return agreement ** first.length < CHANCE && first.every((value, i) => value === second[i])
}

interface Feature {
  readonly name: string
  /** Whether all states have the same members there, so that only their order varies. */
  readonly order: boolean
  /** One for each state. Equal texts are equal values. */
  readonly values: readonly string[]
}

function columnsOf(states: readonly Json[]): ReadonlyMap<string, readonly string[]> {
  return commonTo(states, (state) => leavesOf(state).map(({ path, value }) => [path.join('.'), canonicalJson(value)]))
}

function collectionFeatures(states: readonly JsonObject[]): Feature[] {
  const collections = commonTo(states, (state) => collectionsOf(state, 'public'))
  return [...collections].flatMap(([place, found]) => {
    const members = found.map((collection) =>
      Array.isArray(collection) ? collection.map((member) => canonicalJson(member as Json)) : Object.keys(collection),
    )
    const name = Array.isArray(found[0]) ? place : `the keys of ${place}`
    const order = new Set(members.map((each) => JSON.stringify(each.toSorted()))).size === 1
    return [
      { name: `the length of ${place}`, order: false, values: members.map(({ length }) => String(length)) },
      { name: order ? `the order of ${name}` : name, order, values: members.map((each) => JSON.stringify(each)) },
    ]
  })
}

type Collection = readonly Json[] | JsonObject

function collectionsOf(value: Json, place: string): [string, Collection][] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, member]) => collectionsOf(member as Json, `${place}.${key}`))
  return [[place, value], ...inner]
}

export function commonTo<State, Found>(
  states: readonly State[],
  find: (state: State) => readonly (readonly [string, Found])[],
): ReadonlyMap<string, readonly Found[]> {
  const columns = Map.groupBy(
    states.flatMap((state) => find(state)),
    ([place]) => place,
  )
  const common = [...columns].filter(([, column]) => column.length === states.length)
  return new Map(common.map(([place, column]) => [place, column.map(([, found]) => found)]))
}
