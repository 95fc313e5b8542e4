import { createPythonRandom, type PythonRandom } from '../python/random.ts'
import { repr } from '../python/repr.ts'
import type { PythonValue } from '../python/value.ts'
import { dictOf } from './dict.ts'

/** What the rules of a class read besides their state. */
export interface Sources {
  /** Whether answers are lengthened, as in the category `long_context`. */
  readonly isLong: boolean
  /** Returns a literal that a name is bound to in the original's source of the class. */
  constant<T>(name: string): T
  after<T extends PythonValue>(text: string): T
  /** Returns the groups of a pattern wherever it occurs in that source. */
  groups(pattern: RegExp): readonly (readonly string[])[]
  /** Returns a literal of the long texts if answers are lengthened. */
  long<T extends PythonValue>(name: string): T | undefined
}

export type Fields = Record<string, PythonValue>

/** Attributes that are `undefined` are not in the answer. */
export type ApiAnswer = PythonValue | { readonly [key: string]: PythonValue | undefined }

/**
 * A class of the original: how its state is made of a task's scenario, and its methods over that state.
 * `CallArguments` has the arguments of all methods, by their names. What is returned may be part of the state.
 */
export interface Api<State, CallArguments = object> {
  load(scenario: Fields, sources: Sources): State
  readonly methods: Readonly<Record<string, (state: State, given: CallArguments, sources: Sources) => ApiAnswer>>
  /** Returns what the original compares, if it is not all that has no `_` before its name. */
  compared?(state: State): PythonValue
}

/** An exception of Python that reaches the caller, who reads its text. */
export class PythonError extends Error {}

/** Chance of a state: its seed, and how many words were drawn. */
export interface Chance {
  _chance: { seed: number; drawn: number }
}

/** Returns the attributes that a scenario has, or else the defaults of the class; its `dicts` by {@link dictOf}. */
export function attributesOf<State>(scenario: Fields, { constant }: Sources, ...dicts: readonly string[]) {
  const defaults = constant<Fields>('DEFAULT_STATE')
  const { random_seed: seed = 200191, ...all } = { ...defaults, ...scenario }
  const names = Object.keys(all).filter((name) => Object.hasOwn(defaults, name))
  const attributes = names.map((name) => [name, dicts.includes(name) ? dictOf(all[name] ?? {}) : all[name]])
  return { ...Object.fromEntries(attributes), _chance: { seed, drawn: 0 } } as State & Chance
}

export function draw<T>({ _chance }: Chance, take: (random: PythonRandom) => T): T {
  const random = createPythonRandom(_chance.seed, _chance.drawn)
  const taken = take(random)
  _chance.drawn = random.drawn
  return taken
}

/** Removes the first of equal items, and returns whether there is one. */
export function removeFrom(list: string[], item: string): boolean {
  const at = list.indexOf(item)
  if (at >= 0) list.splice(at, 1)
  return at >= 0
}

/** Returns the field of an object. Throws as a dict does if there is none. */
export function fieldOf<Item>(object: { readonly [key: string]: Item }, key: string): Item {
  if (!Object.hasOwn(object, key)) throw new PythonError(repr(key))
  return object[key] as Item
}
