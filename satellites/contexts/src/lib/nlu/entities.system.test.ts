import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRulesInterpreter, day, type Entity, oneOf, wholeNumber } from '../../interpret.ts'
import { earlier, MONDAY, requestOf } from '../fixtures/request.fixture.ts'
import type { Interpretation } from '../model/interpreter.ts'

/** The first value that an entity finds in a text, given the last value. */
function find(entity: Entity, text: string, last?: string): unknown {
  const interpreter = createRulesInterpreter({ name: { slots: { it: { entity } } } })
  const history = last === undefined ? [] : [earlier('name', { it: last })]
  return (interpreter.interpret(requestOf(text, { history })) as Interpretation).candidates[0]?.slots.it
}

describe('day', () => {
  it.each([
    ['tomorrow', '2026-01-06'],
    ['tomorow', '2026-01-06'],
    ['the day after tomorrow', '2026-01-07'],
    ['on Friday', '2026-01-09'],
    ['in two weeks', '2026-01-19'],
    ['3 December', '2026-12-03'],
    ['December 3rd', '2026-12-03'],
    ['the 3rd of decmber', '2026-12-03'],
    ['12/3', '2026-12-03'],
    ['2027-02-28', '2027-02-28'],
    ['on the 12th', '2026-01-12'],
    ['on the 3rd', '2026-02-03'],
    ['on the 31st', '2026-01-31'],
    ['the 12th then', '2026-01-12'],
    ['the 2nd one', undefined],
    ['2 January', '2027-01-02'],
    ['the following day', '2026-01-06'],
    ['tomorrow morning', '2026-01-06'],
    ['in March', undefined],
    ['at 5', undefined],
    ['2026-02-30', undefined],
    ['on the 45th', undefined],
    ['never', undefined],
    ['right now', undefined],
    ['tonight', '2026-01-05'],
    ['Sat, 10 Jan', '2026-01-10'],
  ])('reads "%s" as %s', (text, value) => {
    expect(find(day(), text)).toBe(value)
  })

  it.each([
    ['the day after', '2026-03-01'],
    ['two days later', '2026-03-02'],
    ['a week later', '2026-03-07'],
    ['the next day', '2026-03-01'],
    ['the day before', '2026-02-27'],
    ['tomorrow', '2026-01-06'],
    ['the day after tomorrow', '2026-01-07'],
  ])('reads "%s" as seen from the day that was named last', (text, value) => {
    expect(find(day(), text, '2026-02-28')).toBe(value)
  })

  it('reads every day of the calendar, in each notation', () => {
    const anyTime = fc.integer({ min: MONDAY, max: Date.UTC(2099, 11, 31) })
    fc.assert(
      fc.property(anyTime, (time) => {
        const date = new Date(time)
        const value = date.toISOString().slice(0, 10)
        const month = date.toLocaleString('en', { month: 'long', timeZone: 'UTC' })
        expect(find(day(), value)).toBe(value)
        expect(find(day(), `${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`)).toBe(value)
        expect(find(day(), `${month} ${date.getUTCDate()}, ${date.getUTCFullYear()}`)).toBe(value)
      }),
      { seed: 3 },
    )
  })

  it('returns the same days in every time zone of the machine', () => {
    const program = `
      import { createRulesInterpreter, day } from ${JSON.stringify(new URL('../../interpret.ts', import.meta.url).href)}
      const interpreter = createRulesInterpreter({ name: { slots: { it: { entity: day() } } } })
      const texts = ['tomorrow', 'on Sunday', 'the day after tomorrow', 'on the 29th', '29 March', 'in two weeks', 'two days later']
      const times = [Date.UTC(2026, 2, 28, 0, 30), Date.UTC(2026, 2, 28, 23, 30), Date.UTC(2026, 9, 24, 23, 30), Date.UTC(2026, 11, 31, 12)]
      const values = times.flatMap((now) => texts.map((text) => interpreter.interpret({ text, now, history: [] }).candidates[0]?.slots.it))
      console.log(JSON.stringify(values))`
    const [first, ...others] = ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles', 'Europe/London', 'Asia/Beirut'].map(
      (TZ) => {
        const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
          env: { ...process.env, TZ },
          encoding: 'utf8',
        })
        expect(stderr).toBe('')
        return JSON.parse(stdout) as string[]
      },
    )
    expect(first).toContain('2026-03-29')
    for (const other of others) expect(other).toEqual(first)
  })
})

describe('wholeNumber', () => {
  it.each([
    ['2', 2],
    ['two', 2],
    ['twenty-three', 23],
    ['twenty', 20],
    ['a couple', 2],
    ['2pax', 2],
    ['2nd', undefined],
    ['0', undefined],
    ['41', undefined],
    ['9'.repeat(400), undefined],
  ])('reads "%s" as %s', (text, value) => {
    expect(find(wholeNumber({ least: 1, most: 40 }), text)).toBe(value)
  })
})

describe('oneOf', () => {
  const fruit = oneOf({ apple: ['apple', 'apples'], big: ['big apple'], plum: ['Prune d’Agen'] })

  it('finds the longest name, whatever its case and accents', () => {
    expect(find(fruit, 'an APPLE')).toBe('apple')
    expect(find(fruit, 'the Big  Apple')).toBe('big')
    expect(find(fruit, "prune d'agen")).toBe('plum')
    expect(find(fruit, 'pineapple')).toBeUndefined()
  })

  it('accepts one letter that is missing, extra, wrong or swapped, except the first', () => {
    const names = ['Lahore', 'Istanbul', 'Melbourne', 'Casablanca']
    const place = oneOf(Object.fromEntries(names.map((name) => [name, [name]])))
    const errors: readonly ((name: string, at: number) => string)[] = [
      (name, at) => name.slice(0, at) + name.slice(at + 1),
      (name, at) => `${name.slice(0, at)}q${name.slice(at)}`,
      (name, at) => `${name.slice(0, at)}q${name.slice(at + 1)}`,
      (name, at) =>
        name.slice(0, at) +
        name
          .slice(at, at + 2)
          .split('')
          .reverse()
          .join('') +
        name.slice(at + 2),
    ]
    for (const name of names)
      for (let at = 1; at < name.length; at++)
        for (const error of errors) expect(find(place, `to ${error(name, at)}`)).toBe(name)
    expect(find(place, 'to Qahore')).toBeUndefined()
    expect(find(place, 'to Lqhqre')).toBeUndefined()
    expect(find(place, 'to Cqsqblanca')).toBe('Casablanca')
  })
})
