import { defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from '../check-world.ts'

const DIGITS = [3, 5, 8] as const

type Code = number | string | { readonly kind: string }

/** Findings about the code of a lock, which is the same for all seeds unless it is drawn. */
async function literalsOf(
  code: number | string | 'drawn',
  input: z.ZodType,
  {
    declared = z.union([z.number(), z.string()]),
    drawn = DIGITS,
  }: { readonly declared?: z.ZodType<Code>; readonly drawn?: readonly Code[] } = {},
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
  const said = (found: readonly { readonly what: string }[] | undefined) => found?.map(({ what }) => what) ?? []
  // Without the warnings about missing bounds and descriptions.
  const ofValues = (found: readonly string[]) => found.filter((what) => what.includes('contains the private value'))
  return { failed: said(checks[0]?.findings), warned: ofValues(said(checks[0]?.warnings)) }
}

const SEEN = 'The input schema of open contains the private value "evening".'

describe('hygiene', () => {
  it.each([
    ['a default', 7, z.int().min(0).max(9).default(7)],
    ['the only value', 'k', z.literal('k')],
    ['one among others', 'k', z.enum(['a', 'k', 'z'])],
    ['deep inside', 7, z.array(z.object({ digit: z.literal([1, 7]) })).max(3)],
  ])('warns about a short constant private value that a schema has as %s', async (_, code, input) => {
    const warning = `The input schema of open contains the private value ${JSON.stringify(code)}.`
    expect(await literalsOf(code, input)).toEqual({ failed: [], warned: [warning] })
  })

  it.each([
    ['a default', 'sesame-and-poppy', z.string().max(20).default('sesame-and-poppy')],
    ['one among others', 'sesame-and-poppy', z.enum(['sesame-and-poppy', 'open'])],
    ['a part of a description', 'sesame-and-poppy', z.string().max(20).describe('It may be sesame-and-poppy.')],
    ['a number in a description', 48_213, z.int().min(0).max(9).describe('Never 48213.')],
  ])('fails for a constant private value that a schema has as %s', async (_, code, input) => {
    const { failed } = await literalsOf(code, input)
    expect(failed).toEqual([`The input schema of open contains the private value ${JSON.stringify(code)}.`])
  })

  it.each([
    ['a default', z.string().max(20).default('sesame-and-poppy')],
    ['a part of a description', z.string().max(20).describe('It may be sesame-and-poppy.')],
  ])('fails for one of several private texts that a schema has as %s', async (_, input) => {
    const { failed } = await literalsOf('drawn', input, { drawn: ['sesame-and-poppy', 'rye-and-oat'] })
    expect(failed).toEqual(['The input schema of open contains the private value "sesame-and-poppy".'])
  })

  it.each([
    ['a bound', 7, z.int().min(0).max(7).default(3)],
    ['a part of a longer value', 'k', z.enum(['ok', 'key'])],
    ['a choice of several private values', 'drawn', z.literal([...DIGITS])],
    ['a default that only some seeds have', 'drawn', z.int().min(0).max(9).default(3)],
    ['a usual initial value', 0, z.int().min(0).max(9).default(0)],
  ])('accepts %s', async (_, code, input) => {
    expect(await literalsOf(code, input)).toEqual({ failed: [], warned: [] })
  })

  it('accepts a number from a wide range', async () => {
    const drawn = Array.from({ length: 9_000 }, (_, i) => i + 1_000)
    const input = z.int().min(1_000).max(9_999).describe(drawn.join(' '))
    expect(await literalsOf('drawn', input, { drawn })).toEqual({ failed: [], warned: [] })
  })

  it('accepts the constant by which alternatives of the private state differ', async () => {
    const declared = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('directory') }),
      z.object({ kind: z.literal('text') }),
    ])
    const input = z.string().max(20).describe('The directory to list.')
    const drawn = [{ kind: 'directory' }, { kind: 'text' }]
    expect(await literalsOf('drawn', input, { declared, drawn })).toEqual({ failed: [], warned: [] })
  })

  describe('for a value that the private state enumerates', () => {
    const parts = ['morning', 'evening', 'midnight'] as const
    const declared = z.union([z.enum(parts), z.number()])
    const given = z.literal('evening')
    const beside = z.enum(['evening', 'never'])
    const inWords = z.string().max(20).describe('from 17:00 it is evening')
    const asKey = z.object({ evening: z.boolean() })

    it.each([given, beside, inWords, asKey])('accepts it if seeds differ in it', async (input) => {
      expect(await literalsOf('drawn', input, { declared, drawn: parts })).toEqual({ failed: [], warned: [] })
    })

    it.each([beside, inWords, asKey])(
      'accepts it as a word or as one of several choices if it is constant',
      async (input) => {
        expect(await literalsOf('evening', input, { declared })).toEqual({ failed: [], warned: [] })
      },
    )

    it('warns if it is constant and a schema has it as the only value', async () => {
      expect(await literalsOf('evening', given, { declared })).toEqual({ failed: [], warned: [SEEN] })
    })
  })

  describe('for a word that the private state does not enumerate', () => {
    const drawn = ['evening', 7]

    it.each([z.literal('evening'), z.enum(['evening', 'never'])])(
      'fails if a schema has it as a constant or choice',
      async (input) => {
        expect(await literalsOf('drawn', input, { drawn })).toEqual({ failed: [SEEN], warned: [] })
      },
    )

    it.each([z.string().max(20).describe('from 17:00 it is evening'), z.object({ evening: z.boolean() })])(
      'warns if it is one word of a text or a key',
      async (input) => {
        expect(await literalsOf('drawn', input, { drawn })).toEqual({ failed: [], warned: [SEEN] })
      },
    )
  })

  it('takes a number for a coincidence that stands in a bound if a table has hundreds of them', async () => {
    const ids = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`row-${i}`, 1_500 + i]))
    const { checks } = await checkWorld({ environment: tableOf(ids) }, { only: ['hygiene'] })
    expect(checks[0]?.findings).toEqual([])
    const few = await checkWorld({ environment: tableOf({ 'row-0': 2_000, 'row-1': 2_020 }) }, { only: ['hygiene'] })
    expect(few.checks[0]?.findings.map(({ name }) => name)).toEqual(['private-value-named:2000'])
  })
})

/** A world with a private table, one of whose tools has 2,000 as a bound. */
function tableOf(ids: Readonly<Record<string, number>>) {
  return defineEnvironment({
    name: 'table',
    version: '1.0.0',
    description: 'Look a row up.',
    params: z.object({}),
    state: { public: z.object({}), private: z.object({ ids: z.record(z.string(), z.number()) }) },
    start: () => ({ public: {}, private: { ids } }),
    observe: () => 'A table.',
    tools: ({ tool }) => ({
      find: tool({
        description: 'Find a row.',
        input: z.object({ row: z.string().max(2_000).describe('Which.') }),
        play: ({ state, input, reveal, say }) => say(reveal(input.row in state.private.ids) ? 'Yes.' : 'No.'),
      }),
    }),
    rewards: { none: () => 0 },
  })
}
