import { toDouble, toInt } from '../python/arithmetic.ts'
import { PythonError, valueError } from '../python/error.ts'
import { repr, str } from '../python/repr.ts'
import { round, roundToInt } from '../python/round.ts'
import { entriesOf, float, isFloat, type PythonTime, type PythonValue } from '../python/value.ts'
import { attributeOf } from './attributes.ts'
import { makeDict } from './dict.ts'
import { type Callable, deepCopy, Instance, namespace, PythonClass, Scope, typeName, type Value } from './objects.ts'
import { compare, isTrue, itemsOf, iterate, makeSet, OPERATORS } from './operators.ts'
import { parseIso, parseTime, timeAt, written } from './times.ts'

const ERRORS = [
  ...['Exception', 'ValueError', 'TypeError', 'KeyError', 'IndexError', 'AttributeError', 'NotImplementedError'],
  ...['OverflowError', 'ZeroDivisionError'],
]

const textOf = (value: Value) => (value instanceof PythonError ? value.message : str(value as PythonValue))

/** Types that are called to convert to them. */
const TYPES: Readonly<Record<string, Callable>> = {
  str: ([value = '']) => textOf(value),
  bool: ([value = false]) => isTrue(value),
  int: ([value = 0]) => toWhole(value),
  float: ([value = 0]) => float(typeof value === 'string' ? Number(value) : toDouble(value as number)),
  list: ([items = []]) => [...iterate(items)],
  tuple: ([items = []]) => ({ $tuple: [...iterate(items)] }),
  set: ([items = []]) => makeSet(iterate(items)),
  dict: ([items = {}], named) => makeDict([...entriesOf(items as object), ...Object.entries(named)]),
}

function toWhole(value: Value): Value {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'string') {
    if (/^\s*[-+]?\d+(_\d+)*\s*$/.test(value)) return toInt(BigInt(value.replaceAll('_', '').trim()))
    throw valueError(`invalid literal for int() with base 10: ${repr(value)}`)
  }
  return isFloat(value) ? toInt(BigInt(Math.trunc(toDouble(value)))) : value
}

const FUNCTIONS: Readonly<Record<string, Callable>> = {
  len: ([all]) => (typeof all === 'string' ? [...all].length : itemsOf(all).length),
  abs: ([number]) => (compare(number, 0) < 0 ? operate('-', 0, number) : number),
  round: ([number, digits]) =>
    digits === undefined ? roundToInt(number as number) : round(number as number, digits as number),
  sum: ([items, start = 0]) => [...iterate(items)].reduce((sum, item) => operate('+', sum, item), start),
  min: (given, named) => outermost(given, named, -1),
  max: (given, named) => outermost(given, named, 1),
  any: ([items]) => {
    for (const item of iterate(items)) if (isTrue(item)) return true
    return false
  },
  all: ([items]) => {
    for (const item of iterate(items)) if (!isTrue(item)) return false
    return true
  },
  sorted([items], { key, reverse = false }) {
    const sign = isTrue(reverse) ? -1 : 1
    const keyed = [...iterate(items)].map((item) => [key ? (key as Callable)([item], {}) : item, item] as const)
    return keyed.sort(([a], [b]) => sign * compare(a, b)).map(([, item]) => item)
  },
  range: (bounds) => {
    const [from, to] = (bounds.length === 1 ? [0, bounds[0]] : bounds) as number[]
    return Array.from({ length: Math.max(0, (to as number) - (from as number)) }, (_, i) => (from as number) + i)
  },
  zip(lists) {
    const all = lists.map((list) => [...iterate(list)])
    const length = Math.min(...all.map((list) => list.length))
    return Array.from({ length }, (_, i) => ({ $tuple: all.map((list) => list[i]) }))
  },
  isinstance: ([value, type]) => isInstance(value, type),
  getattr: ([owner, name]) => attributeOf(owner, String(name)),
  print: () => null,
}

/** Returns whether a value is of a class, or of one of a tuple of them. */
export function isInstance(value: Value, type: Value): boolean {
  if (!(type instanceof PythonClass)) return itemsOf(type).some((one) => isInstance(value, one))
  if (value instanceof Instance) return value.type.extends(type)
  if (value instanceof PythonError && type.name === 'Exception') return true
  return typeName(value) === type.name || (type.name === 'int' && typeof value === 'boolean')
}

function operate(sign: string, a: Value, b: Value): Value {
  return (OPERATORS[sign] as (a: Value, b: Value) => Value)(a, b)
}

function outermost(
  given: readonly Value[],
  { key, default: none }: Readonly<Record<string, Value>>,
  sign: number,
): Value {
  const items = given.length === 1 ? [...iterate(given[0])] : given
  const rank = (item: Value) => (key ? (key as Callable)([item], {}) : item)
  const [first, ...others] = items.map((item) => [rank(item), item] as const)
  if (!first) {
    if (none !== undefined) return none
    throw valueError('max() iterable argument is empty')
  }
  return others.reduce((best, one) => (sign * compare(one[0], best[0]) > 0 ? one : best), first)[1]
}

const time = ($time: string): PythonTime => ({ $time })
const day = (text: string) => time(text.slice(0, 10))
/** Milliseconds of a day, which is what a `timedelta` is here. */
const DAY = 86_400_000

const datetime = new PythonClass(
  'datetime',
  [],
  new Map<string, Callable>([
    ['strptime', ([text, format]) => time(parseTime(String(text), String(format)))],
    ['fromisoformat', ([text]) => time(parseIso(String(text)))],
    ['fromtimestamp', ([seconds]) => time(timeAt(toDouble(seconds as number) * 1_000))],
  ]),
  (given) => time(written(given as number[])),
)
const date = new PythonClass(
  'date',
  [],
  new Map([['fromisoformat', ([text]: readonly Value[]) => day(parseIso(String(text)))]]),
)

/** Modules that sources import, by their names. Of others, nothing is bound. */
export const LIBRARY: Readonly<Record<string, Instance>> = {
  datetime: namespace('datetime', {
    datetime,
    date,
    timedelta: (_: unknown, { days }: { days: number }) => days * DAY,
  }),
  random: namespace('random', { Random: ([seed]: readonly Value[]) => ({ $random: { seed, drawn: 0 } }) }),
  math: namespace('math', { sqrt: ([value]: readonly Value[]) => float(Math.sqrt(toDouble(value as number))) }),
  copy: namespace('copy', { deepcopy: ([value]: readonly Value[]) => deepCopy(value) }),
}

/** Names that are everywhere. */
export const BUILTINS = new Scope(null, [
  ...Object.entries(FUNCTIONS),
  ...Object.entries(TYPES).map(([name, make]) => [name, new PythonClass(name, [], new Map(), make)] as const),
  ...ERRORS.map((name) => {
    return [name, new PythonClass(name, [], new Map(), ([text = '']) => new PythonError(name, textOf(text)))] as const
  }),
])
