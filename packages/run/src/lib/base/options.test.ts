import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { named, nonEmpty, numberWithin, range, wholeNumber } from './option-values.ts'
import { addOptions, flag, flagOff, option, toWords } from './options.ts'

const schema = z.object({
  count: option('<count>', 'how many', wholeNumber(1, 64).default(8)),
  share: option('<share>', 'how much', numberWithin(0, 1).optional()),
  mostSteps: option('<count>', 'the most steps', wholeNumber(0).optional()),
  seed: option('<seed>', 'the seed', nonEmpty.default('0')),
  kind: option('[kind]', 'which', z.enum(['small', 'large']).optional(), { preset: 'small' }),
  world: option('<world>', 'the worlds', z.array(z.string()).default([])),
  seat: option('<seat=policy>', 'the seats', z.record(z.string(), z.string()).optional(), { text: named }),
  difficulty: option('<low..high>', 'the range', z.tuple([z.number(), z.number()]).default([0, 1]), { text: range }),
  open: flagOff('open nothing'),
  json: flag('as JSON'),
  notAnOption: z.string().optional(),
})

function parse(words: readonly string[]): z.infer<typeof schema> {
  const command = addOptions(new Command('x'), schema)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
  return command.parse([...words], { from: 'user' }).opts()
}

describe('addOptions', () => {
  it('reads values, and has the defaults of the schema', () => {
    expect(parse([])).toEqual({ count: 8, seed: '0', world: [], difficulty: [0, 1], open: true })
    const words = ['--count', '64', '--share', '0', '--most-steps', '0', '--kind', '--json', '--no-open']
    expect(parse(words)).toMatchObject({ count: 64, share: 0, mostSteps: 0, kind: 'small', json: true, open: false })
  })

  it.each([
    ['--count', /from 1 to 64/, ['', ' ', '0', '65', '-1', '1.5', 'x', '1e99', 'NaN']],
    ['--most-steps', /a whole number from 0 up/, ['', '-1', '0.5']],
    ['--share', /a number from 0 to 1/, ['', '-0.1', '1.1', 'x']],
    ['--seed', /at least one character/, ['']],
    ['--kind', /Allowed choices are small, large/, ['medium']],
  ])('refuses what the schema of %s refuses', (name, problem, texts) => {
    for (const text of texts) expect(() => parse([name, text])).toThrow(problem)
  })

  it('requires an option whose schema takes no undefined', () => {
    const needed = z.object({ out: option('<file>', 'the file', z.string()) })
    const command = addOptions(new Command('x'), needed)
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
    expect(() => command.parse([], { from: 'user' })).toThrow(/required option '--out <file>' not specified/)
  })
})

describe('toWords', () => {
  it('gives words that are read as the values, without those of defaults', () => {
    const values: z.infer<typeof schema> = {
      count: 3,
      share: 0.5,
      mostSteps: 0,
      seed: '0',
      kind: 'large',
      world: ['a', 'b'],
      seat: { first: 'x', second: 'y' },
      difficulty: [0, 0.5],
      open: false,
      json: true,
    }
    const words = toWords(schema, values)
    expect(words).not.toContain('--seed')
    expect(parse(words)).toEqual(values)
  })

  it('leaves out null, and fields that are no options', () => {
    expect(toWords(schema, { share: null, count: 8, json: false, notAnOption: 'x' })).toEqual([])
  })
})
