import { PythonError, valueError } from '../python/error.ts'
import { splitWords, strip } from '../python/lines.ts'
import { createPythonRandom, type PythonRandom } from '../python/random.ts'
import { repr, str } from '../python/repr.ts'
import {
  entriesOf,
  float,
  isChance,
  isSet,
  isTime,
  type PythonChance,
  type PythonTime,
  type PythonValue,
} from '../python/value.ts'
import { findItem, makeDict } from './dict.ts'
import { isEqual } from './equality.ts'
import { isDict, type Value } from './objects.ts'
import { itemsOf, iterate } from './operators.ts'
import { formatTime, milliseconds } from './times.ts'

/** A method of a type of the library, over its object and what is given by place and by name. */
export type Method = (self: never, given: readonly Value[], named: Readonly<Record<string, Value>>) => Value
type Methods = Readonly<Record<string, Method>>

/** Returns the method of a value of the library's types, or `undefined`. */
export function methodOf(value: Value, name: string): Method | undefined {
  const methods = methodsOf(value)
  return methods && Object.hasOwn(methods, name) ? methods[name] : undefined
}

function methodsOf(value: Value): Methods | undefined {
  if (typeof value === 'string') return TEXT
  if (Array.isArray(value)) return LIST
  if (isSet(value)) return SET
  if (isTime(value)) return TIME
  if (isChance(value)) return CHANCE
  return isDict(value) ? DICT : undefined
}

const TEXT: Methods = {
  lower: (text: string) => text.toLowerCase(),
  upper: (text: string) => text.toUpperCase(),
  capitalize: (text: string) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase(),
  strip: (text: string) => strip(text),
  split: (text: string, [by]) => (by === undefined ? splitWords(text) : text.split(String(by))),
  startswith: (text: string, [start]) => text.startsWith(String(start)),
  replace: (text: string, [old, now]) => text.replaceAll(String(old), () => String(now)),
  join(text: string, [parts]) {
    const texts = [...iterate(parts)]
    if (texts.every((one) => typeof one === 'string')) return texts.join(text)
    throw new PythonError('TypeError', 'sequence item: expected str instance')
  },
  format: (text: string, _, named) => fillIn(text, named),
  isdigit: (text: string) => /^\p{Nd}+$/u.test(text),
  zfill: (text: string, [width]) => text.padStart(Number(width), '0'),
}

/** Fills in the names in braces, as `str.format` does. */
function fillIn(template: string, named: Readonly<Record<string, Value>>): string {
  return template.replace(/\{\{|\}\}|\{(\w*)\}/g, (whole, name: string | undefined) => {
    if (name === undefined) return whole.charAt(0)
    if (!Object.hasOwn(named, name)) throw new PythonError('KeyError', repr(name))
    return str(named[name] as PythonValue)
  })
}

const LIST: Methods = {
  append: (list: Value[], [item]) => void list.push(item),
  extend: (list: Value[], [items]) => void list.push(...iterate(items)),
  remove(list: Value[], [item]) {
    const place = list.findIndex((one) => isEqual(one, item))
    if (place < 0) throw valueError('list.remove(x): x not in list')
    list.splice(place, 1)
  },
}

const DICT: Methods = {
  get: (dict: object, [key, otherwise = null]) => findItem(dict, key) ?? otherwise,
  keys: (dict: object) => entriesOf(dict).map(([key]) => key),
  values: (dict: object) => entriesOf(dict).map(([, item]) => item),
  items: (dict: object) => entriesOf(dict).map((entry) => ({ $tuple: entry })),
  copy: (dict: object) => makeDict(entriesOf(dict)),
}

const SET: Methods = {
  add(set: { $set: Value[] }, [item]) {
    if (!set.$set.some((one) => isEqual(one, item))) set.$set.push(item)
  },
  issubset: ({ $set }: { $set: Value[] }, [other]) => {
    return $set.every((item) => itemsOf(other).some((one) => isEqual(one, item)))
  },
}

const TIME: Methods = {
  strftime: (time: PythonTime, [format]) => formatTime(time, String(format)),
  isoformat: ({ $time }: PythonTime) => $time.replace(' ', 'T'),
  date: ({ $time }: PythonTime) => ({ $time: $time.slice(0, 10) }),
  timestamp: ({ $time }: PythonTime) => ({ $float: `${milliseconds($time) / 1_000}.0` }),
}

const CHANCE: Methods = {
  randint: (chance: PythonChance, [low, high]) =>
    draw(chance, (random) => random.randint(low as number, high as number)),
  uniform: (chance: PythonChance, [low, high]) =>
    float(draw(chance, (random) => random.uniform(low as number, high as number))),
}

function draw({ $random: chance }: PythonChance, take: (random: PythonRandom) => number): number {
  const random = createPythonRandom(chance.seed, chance.drawn)
  const taken = take(random)
  chance.drawn = random.drawn
  return taken
}
