import { describe, expect, it } from 'vitest'
import { isFloat, numberOf } from '../python/value.ts'
import { ArgumentError, readArguments } from './arguments.ts'
import { parseIso, parseTime } from './dates.ts'
import { readEmailAddress } from './email-address.ts'
import { readQuoted } from './injected-text.ts'
import type { Parameter } from './python-functions.ts'
import { readPythonTexts } from './python-texts.ts'
import cases from './recorded/cases.json' with { type: 'json' }
import recorded from './recorded/original.json' with { type: 'json' }
import { similarity } from './similarity.ts'
import { dumpYaml, Moment, type YamlValue } from './yaml-dump.ts'

// `recorded/original.json` is what PyYAML, pydantic, email_validator and CPython said: see `recorded/record.py`.

/** Each case with what was said of it. */
const of = <Name extends keyof typeof recorded>(name: Name) =>
  recorded[name].map((said, i) => ({ given: cases[name][i] as never, said: said as unknown }))
const attempt = (run: () => unknown) => {
  try {
    return run()
  } catch (error) {
    return { error: (error as Error).message.replace(/^ValueError: /, '') }
  }
}

/** The same text of a date is the same object. */
function withMoments(value: unknown, known = new Map<string, Moment>()): YamlValue {
  if (typeof value !== 'object' || value === null) return value as YamlValue
  if ('$moment' in value) {
    const text = String(value.$moment)
    const moment = known.get(text) ?? new Moment(text)
    known.set(text, moment)
    return moment
  }
  if (Array.isArray(value)) return value.map((part) => withMoments(part, known))
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withMoments(part, known)]))
}

describe('dumpYaml', () => {
  it.each(of('yaml'))('writes as PyYAML: $said', ({ given, said }) => {
    expect(dumpYaml(withMoments(given))).toBe(said)
  })
})

describe('readQuoted', () => {
  it.each(of('quoted'))('reads as PyYAML: $given', ({ given, said }) => {
    if (typeof said === 'string') expect(readQuoted(given)).toBe(said)
    else expect(() => readQuoted(given)).toThrow(/no YAML, here as in the original/)
  })
})

describe('readArguments', () => {
  const parameters = Object.entries(cases.parameters).map(([name, [type, isNullable]]) => ({
    ...{ name, type: type as Parameter['type'], isNullable: isNullable as boolean, description: '' },
    fallback: isNullable ? null : undefined,
  }))
  const made = { name: 'made', description: '', parameters }

  it.each(of('arguments'))('reads and refuses as pydantic: $given', ({ given, said }) => {
    const plain = (value: unknown) => (isFloat(value) ? numberOf(value) : value)
    const read = attempt(() => readArguments(made, given))
    expect(JSON.parse(JSON.stringify(read, (_, value) => plain(value)))).toEqual(said)
  })

  it('reads a text that is a list of Python as a list, as AgentDojo does before', () => {
    expect(readArguments(made, { s: 'x', l: "['a', 'b']", d: "[{'type': 'file'}]" })).toMatchObject({
      l: ['a', 'b'],
      d: [{ type: 'file' }],
    })
    expect(() => readArguments(made, { s: '[1]' })).toThrow(ArgumentError)
    expect(readArguments(made, { s: '[1' })).toMatchObject({ s: '[1' })
  })
})

describe('readEmailAddress', () => {
  it.each(of('addresses'))('reads and refuses as email_validator: $given', ({ given, said }) => {
    expect(readEmailAddress(given)).toEqual(said)
  })
})

describe('parseTime and parseIso', () => {
  it.each(of('times'))('reads as strptime: $given', ({ given, said }) => {
    expect(attempt(() => parseTime(given, '%Y-%m-%d %H:%M'))).toEqual(said)
  })
  it.each(of('isoTimes'))('reads as fromisoformat: $given', ({ given, said }) => {
    expect(attempt(() => parseIso(given))).toEqual(said)
  })
})

describe('similarity', () => {
  it.each(of('similar'))('is the ratio of difflib: $said', ({ given, said }) => {
    const [a, b] = given as [string, string]
    expect(similarity(a, b)).toBe(said)
  })
})

describe('readPythonTexts', () => {
  it.each(of('sources'))('reads the constants of classes', ({ given, said }) => {
    const { classes } = readPythonTexts(given)
    expect(Object.fromEntries([...classes].map(([name, own]) => [name, Object.fromEntries(own)]))).toEqual(said)
  })
})
