import { describe, expect, it } from 'vitest'
import { dumps } from './dumps.ts'
import { splitlines, splitWords, strip } from './lines.ts'
import { createPythonRandom } from './random.ts'
import cases from './recorded/cases.json' with { type: 'json' }
import recorded from './recorded/python.json' with { type: 'json' }
import { repr, str } from './repr.ts'
import { formatFixed, round, roundToInt } from './round.ts'
import { float, formatFloat, isFloat, isWholeFloat, numberOf, type PythonValue } from './value.ts'

// `recorded/python.json` is what Python 3 said of `recorded/cases.json`: see `recorded/record.py`.

/** Reads a value of a case. */
function asValue(given: unknown): PythonValue {
  if (Array.isArray(given)) return given.map(asValue)
  if (typeof given !== 'object' || given === null) return given as PythonValue
  if ('$float' in given) return float(numberOf(given))
  if ('$tuple' in given) return { $tuple: (given.$tuple as unknown[]).map(asValue) }
  if ('$dict' in given)
    return { $dict: (given.$dict as [unknown, unknown][]).map(([key, item]) => [asValue(key), asValue(item)] as const) }
  return Object.fromEntries(Object.entries(given).map(([key, item]) => [key, asValue(item)]))
}

const values = cases.values.map((value, index) => ({
  value: asValue(value),
  printed: recorded.values[index] as (typeof recorded.values)[number],
}))

describe('str and repr', () => {
  it.each(values)('prints as Python: $printed.repr', ({ value, printed }) => {
    expect(str(value)).toBe(printed.str)
    expect(repr(value)).toBe(printed.repr)
  })

  it('prints integers that no double holds', () => {
    expect(repr({ $int: String(2n ** 100n) })).toBe('1267650600228229401496703205376')
  })
})

describe('dumps', () => {
  it.each(values)('prints as json.dumps: $printed.dumps', ({ value, printed }) => {
    expect(dumps(value)).toBe(printed.dumps)
    expect(dumps(value, { separators: [',', ':'], ensureAscii: false })).toBe(printed.compact)
    expect(dumps(value, { indent: 2 })).toBe(printed.indented)
  })
})

describe('float', () => {
  it('keeps 1.0 apart from 1, also as JSON', () => {
    expect(JSON.parse(JSON.stringify(float(1)))).toEqual({ $float: '1.0' })
    expect([isFloat(float(1)), isFloat(1), isFloat(0.5), isWholeFloat(0.5)]).toEqual([true, false, true, false])
    expect(numberOf(float(-3))).toBe(-3)
    expect(numberOf(float(Number.NEGATIVE_INFINITY))).toBe(Number.NEGATIVE_INFINITY)
  })

  it('says what is no number', () => {
    expect(() => numberOf('1')).toThrow('string is no number of Python')
  })
})

describe('round', () => {
  it.each(cases.rounds.map(([x, n], index) => [x as string, n as number, recorded.rounds[index] as string[]] as const))(
    'rounds %s to %i digits as Python',
    (x, n, [rounded, whole, fixed]) => {
      const value = Number(x)
      expect(repr(round(float(value), n))).toBe(rounded)
      if (Math.abs(value) < 2 ** 53) expect(repr(roundToInt(float(value)))).toBe(whole)
      if (n >= 0) expect(formatFixed(value, n)).toBe(fixed)
    },
  )

  it('leaves an int an int', () => {
    expect([round(7, 2), round(150, -2), round(250, -2)]).toEqual([7, 200, 200])
  })
})

describe('splitlines, strip and splitWords', () => {
  it.each(cases.lines.map((text, index) => ({ text, said: recorded.lines[index] })))(
    'splits $text',
    ({ text, said }) => {
      expect([splitlines(text), strip(text), splitWords(text)]).toEqual(said)
    },
  )
})

describe('createPythonRandom', () => {
  it.each(cases.seeds.map((seed, index) => ({ seed, said: recorded.seeds[index] })))(
    'draws as Random($seed)',
    (one) => {
      const chance = createPythonRandom(typeof one.seed === 'string' ? one.seed : BigInt(one.seed.int))
      const times = <T>(count: number, draw: () => T) => Array.from({ length: count }, draw)
      const range = (count: number) => Array.from({ length: count }, (_, index) => index)
      const shuffled = range(30)
      chance.shuffle(shuffled)
      expect({
        random: times(5, () => formatFloat(chance.random())),
        randint: [...times(10, () => chance.randint(1, 6)), ...times(4, () => chance.randint(1e11, 1e12 - 1))],
        uniform: times(3, () => formatFloat(chance.uniform(0, 120))),
        choice: times(10, () => chance.choice([...'abcdefg'])),
        shuffle: shuffled,
        sample: [chance.sample(range(20), 4), chance.sample(range(1000), 7), chance.sample(range(60), 60)],
        after: times(700, () => chance.random()).at(-1),
      }).toEqual(one.said)
    },
  )

  it('goes on from a number of drawn words', () => {
    const whole = createPythonRandom('seed')
    const first = whole.randint(1, 1000)
    const rest = createPythonRandom('seed', whole.drawn)
    expect(first).toBe(createPythonRandom('seed').randint(1, 1000))
    expect([rest.random(), rest.drawn]).toEqual([whole.random(), whole.drawn])
  })
})
