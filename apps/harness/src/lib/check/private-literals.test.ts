import { defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from './check-world.ts'

const DIGITS = [3, 5, 8] as const

/** What is said of private values by a world of one lock, whose code every world has alike unless it is drawn. */
async function literalsOf(
  code: number | string | 'drawn',
  input: z.ZodType,
  {
    declared = z.union([z.number(), z.string()]),
    drawn = DIGITS,
  }: { readonly declared?: z.ZodType<number | string>; readonly drawn?: readonly (number | string)[] } = {},
) {
  const environment = defineEnvironment({
    name: 'lock',
    version: '1.0.0',
    description: 'Open it.',
    params: z.object({}),
    state: { public: z.object({}), private: z.object({ code: declared }) },
    start: ({ rng }) => ({ public: {}, private: { code: code === 'drawn' ? rng.pick(drawn) : code } }),
    observe: () => 'A lock.',
    tools: ({ tool }) => ({
      open: tool({
        description: 'Try a code.',
        input: z.object({ tried: input }),
        play: ({ state, input: { tried }, reveal, say }) => say(reveal(tried === state.private.code) ? 'Yes.' : 'No.'),
      }),
    }),
    rewards: { none: () => 0 },
  })
  const { checks } = await checkWorld({ environment }, { only: ['hygiene'] })
  return checks[0]?.findings.map(({ what }) => what)
}

describe('hygiene', () => {
  it.each([
    ['a default', 7, z.int().min(0).max(9).default(7)],
    ['the only value', 'k', z.literal('k')],
    ['one among others', 'k', z.enum(['a', 'k', 'z'])],
    ['deep inside', 7, z.array(z.object({ digit: z.literal([1, 7]) })).max(3)],
  ])('finds a short private value that a schema names as %s', async (_, code, input) => {
    const told = `The private value ${JSON.stringify(code)} stands in the input schema of open.`
    expect(await literalsOf(code, input)).toEqual([told])
  })

  it.each([
    ['a bound', 7, z.int().min(0).max(7).default(3)],
    ['a part of a longer value', 'k', z.enum(['ok', 'key'])],
    ['what it lists as a choice', 'drawn', z.literal([...DIGITS])],
    ['a usual value that some worlds have', 'drawn', z.int().min(0).max(9).default(3)],
    ['what says nothing', 0, z.int().min(0).max(9).default(0)],
  ])('takes no offence at %s', async (_, code, input) => {
    expect(await literalsOf(code, input)).toEqual([])
  })

  describe('of a choice that the private state declares', () => {
    const parts = ['morning', 'evening', 'midnight'] as const
    const declared = z.union([z.enum(parts), z.number()])
    // Named by itself, beside others, and in words.
    const inputs = [
      z.literal('evening'),
      z.enum(['evening', 'never']),
      z.string().max(20).describe('from 17:00 it is evening'),
      z.object({ evening: z.boolean() }),
    ]

    it.each(inputs)('takes no offence where worlds differ in it', async (input) => {
      expect(await literalsOf('drawn', input, { declared, drawn: parts })).toEqual([])
    })

    it.each(inputs)('finds it where it is the same for all worlds', async (input) => {
      const found = 'The private value "evening" stands in the input schema of open.'
      expect(await literalsOf('evening', input, { declared })).toEqual([found])
    })

    it.each(inputs)('finds it where the private state declares a text of any kind', async (input) => {
      const drawn = ['evening', 7]
      expect(await literalsOf('drawn', input, { drawn })).toEqual([
        'The private value "evening" stands in the input schema of open.',
      ])
    })
  })
})
