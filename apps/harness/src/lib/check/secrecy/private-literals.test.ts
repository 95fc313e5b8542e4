import { defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from '../check-world.ts'

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
  const said = (found: readonly { readonly what: string }[] | undefined) => found?.map(({ what }) => what) ?? []
  // That numbers and arguments have no bounds or no description is nothing of this.
  const ofValues = (found: readonly string[]) => found.filter((what) => what.startsWith('The private value'))
  return { failed: said(checks[0]?.findings), warned: ofValues(said(checks[0]?.warnings)) }
}

const SEEN = 'The private value "evening" stands in the input schema of open.'

describe('hygiene', () => {
  it.each([
    ['a default', 7, z.int().min(0).max(9).default(7)],
    ['the only value', 'k', z.literal('k')],
    ['one among others', 'k', z.enum(['a', 'k', 'z'])],
    ['deep inside', 7, z.array(z.object({ digit: z.literal([1, 7]) })).max(3)],
  ])('warns of a short private value that all worlds have and that a schema gives as %s', async (_, code, input) => {
    const told = `The private value ${JSON.stringify(code)} stands in the input schema of open.`
    expect(await literalsOf(code, input)).toEqual({ failed: [], warned: [told] })
  })

  it.each([
    ['a default', 'sesame-and-poppy', z.string().max(20).default('sesame-and-poppy')],
    ['one among others', 'sesame-and-poppy', z.enum(['sesame-and-poppy', 'open'])],
    ['a part of a description', 'sesame-and-poppy', z.string().max(20).describe('It may be sesame-and-poppy.')],
    ['a number in a description', 48_213, z.int().min(0).max(9).describe('Never 48213.')],
  ])('fails for a private value that all worlds have and that stands in a schema as %s', async (_, code, input) => {
    const { failed } = await literalsOf(code, input)
    expect(failed).toEqual([`The private value ${JSON.stringify(code)} stands in the input schema of open.`])
  })

  it.each([
    ['a default', z.string().max(20).default('sesame-and-poppy')],
    ['a part of a description', z.string().max(20).describe('It may be sesame-and-poppy.')],
  ])('fails for one of a list of texts that stands in a schema as %s', async (_, input) => {
    const { failed } = await literalsOf('drawn', input, { drawn: ['sesame-and-poppy', 'rye-and-oat'] })
    expect(failed).toEqual(['The private value "sesame-and-poppy" stands in the input schema of open.'])
  })

  it.each([
    ['a bound', 7, z.int().min(0).max(7).default(3)],
    ['a part of a longer value', 'k', z.enum(['ok', 'key'])],
    ['what it lists as a choice', 'drawn', z.literal([...DIGITS])],
    ['a usual value that some worlds have', 'drawn', z.int().min(0).max(9).default(3)],
    ['what says nothing', 0, z.int().min(0).max(9).default(0)],
  ])('takes no offence at %s', async (_, code, input) => {
    expect(await literalsOf(code, input)).toEqual({ failed: [], warned: [] })
  })

  it('takes no offence at a number out of a wide range', async () => {
    const drawn = Array.from({ length: 9_000 }, (_, i) => i + 1_000)
    const input = z.int().min(1_000).max(9_999).describe(drawn.join(' '))
    expect(await literalsOf('drawn', input, { drawn })).toEqual({ failed: [], warned: [] })
  })

  describe('of a choice that the private state declares', () => {
    const parts = ['morning', 'evening', 'midnight'] as const
    const declared = z.union([z.enum(parts), z.number()])
    const given = z.literal('evening')
    const beside = z.enum(['evening', 'never'])
    const inWords = z.string().max(20).describe('from 17:00 it is evening')
    const asKey = z.object({ evening: z.boolean() })

    it.each([given, beside, inWords, asKey])('takes no offence where worlds differ in it', async (input) => {
      expect(await literalsOf('drawn', input, { declared, drawn: parts })).toEqual({ failed: [], warned: [] })
    })

    it.each([beside, inWords, asKey])(
      'takes no offence at its word where it is the same for all worlds',
      async (input) => {
        expect(await literalsOf('evening', input, { declared })).toEqual({ failed: [], warned: [] })
      },
    )

    it('warns where it is the same for all worlds, and a schema gives it alone', async () => {
      expect(await literalsOf('evening', given, { declared })).toEqual({ failed: [], warned: [SEEN] })
    })
  })

  describe('of a word that the private state does not enumerate', () => {
    const drawn = ['evening', 7]

    it.each([z.literal('evening'), z.enum(['evening', 'never'])])('fails where a schema gives it', async (input) => {
      expect(await literalsOf('drawn', input, { drawn })).toEqual({ failed: [SEEN], warned: [] })
    })

    it.each([z.string().max(20).describe('from 17:00 it is evening'), z.object({ evening: z.boolean() })])(
      'warns where it stands among other words',
      async (input) => {
        expect(await literalsOf('drawn', input, { drawn })).toEqual({ failed: [], warned: [SEEN] })
      },
    )
  })
})
