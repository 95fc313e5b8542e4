import { createPythonRandom, type PythonRandom } from '../python/random.ts'
import { repr } from '../python/repr.ts'
import { entriesOf, type PythonDict, type PythonValue } from '../python/value.ts'

/** What the rules of a class read besides their state. */
export interface Sources {
  /** Whether answers are lengthened, as in the category `long_context`. */
  readonly isLong: boolean
  /** Returns a literal that a name is bound to in the original's source of the class. */
  constant<T extends PythonValue>(name: string): T
  /** Returns a literal that follows a text in that source. */
  after<T extends PythonValue>(text: string): T
  /** Returns the groups of a pattern wherever it occurs in that source. */
  groups(pattern: RegExp): readonly (readonly string[])[]
  /** Returns a literal of the long texts. */
  long<T extends PythonValue>(name: string): T
}

/**
 * A class of the original: how its state is made of a task's scenario, its methods over that state, and the public
 * attributes, in one order, by which the original compares states. What is returned may be part of the state.
 */
export interface Api<State> {
  load(scenario: Readonly<Record<string, PythonValue>>, sources: Sources): State
  readonly methods: Readonly<Record<string, Method<State>>>
  compared(state: State): PythonValue
}

/** Arguments have the types of the function's document, by their names; an optional one may be missing or `null`. */
type Method<State> = (
  state: State,
  given: never,
  sources: Sources,
) => PythonValue | { readonly [key: string]: PythonValue | undefined }

/** An exception of Python that reaches the caller, who reads its text. */
export class PythonError extends Error {}

/** A dict of a state whose keys may be anything, in their order. */
export interface Dict<Item = PythonValue> {
  $dict: [key: PythonValue, item: Item][]
}

export function dictOf<Item = PythonValue>(value: PythonValue): Dict<Item> {
  return { $dict: (entriesOf(value as PythonDict) as [PythonValue, Item][]).map(([key, item]) => [key, item]) }
}

export function has(dict: Dict<unknown>, key: PythonValue): boolean {
  return dict.$dict.some(([other]) => other === key)
}

/** Returns the item of a key. Throws as a dict does if there is none. */
export function itemOf<Item>(dict: Dict<Item>, key: PythonValue): Item {
  const entry = dict.$dict.find(([other]) => other === key)
  if (!entry) throw new PythonError(repr(key))
  return entry[1]
}

export function setItem<Item>(dict: Dict<Item>, key: PythonValue, item: Item): void {
  const entry = dict.$dict.find(([other]) => other === key)
  if (entry) entry[1] = item
  else dict.$dict.push([key, item])
}

/** Returns the field of an object. Throws as a dict does if there is none. */
export function fieldOf<Item>(object: { readonly [key: string]: Item }, key: string): Item {
  if (!Object.hasOwn(object, key)) throw new PythonError(repr(key))
  return object[key] as Item
}

/** Chance of a state: its seed, and how many words were drawn. */
export interface Chance {
  seed: number
  drawn: number
}

export function draw<T>(chance: Chance, take: (random: PythonRandom) => T): T {
  const random = createPythonRandom(chance.seed, chance.drawn)
  const taken = take(random)
  chance.drawn = random.drawn
  return taken
}
