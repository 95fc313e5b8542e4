import { createRng, type JsonObject } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { randomPolicy } from './random-policy.ts'
import { sampleJson } from './sample-json.ts'

const Tree = z.object({
  name: z.string(),
  get children() {
    return z.array(Tree)
  },
})
const Expression = z.union([
  z.object({ value: z.number() }),
  z.object({
    get left() {
      return Expression
    },
    get right() {
      return Expression
    },
  }),
]) as z.ZodType

const SCHEMAS: { readonly [what: string]: z.ZodType } = {
  'an empty object': z.object({}),
  'a whole number': z.object({ value: z.int() }),
  'bounded numbers': z.object({ a: z.int().min(-5).max(5), b: z.number().min(0).max(1), c: z.int().max(-1_000) }),
  'excluded bounds': z.object({ a: z.number().gt(0).lt(1), b: z.int().gt(3).lt(5), c: z.number().positive() }),
  multiples: z.object({ a: z.number().multipleOf(0.5), b: z.int().multipleOf(7).min(10).max(20) }),
  '32 bits': z.object({ a: z.int32(), b: z.uint32() }),
  'text of a length': z.object({
    a: z.string().min(12),
    b: z.string().max(2),
    c: z.string().length(30),
    d: z.string(),
  }),
  'enumerations and constants': z.object({
    a: z.enum(['left', 'right']),
    b: z.literal(7),
    c: z.literal(['x', 2, null]),
  }),
  'optional and nullable': z.object({ a: z.string().optional(), b: z.int().nullable(), c: z.boolean().default(true) }),
  lists: z.object({ a: z.array(z.int()), b: z.array(z.boolean()).min(2).max(4), c: z.array(z.string()).length(3) }),
  'long lists': z.object({ a: z.array(z.int()).max(1_000_000) }),
  tuples: z.object({ at: z.tuple([z.int(), z.string()]), rest: z.tuple([z.boolean()], z.int()) }),
  'nested objects': z.object({ to: z.object({ x: z.int(), y: z.object({ z: z.null() }) }) }),
  'strict objects': z.strictObject({ a: z.int(), b: z.string().optional() }),
  records: z.object({ open: z.record(z.string(), z.int()), listed: z.record(z.enum(['n', 's']), z.boolean()) }),
  alternatives: z.object({ a: z.union([z.int(), z.string(), z.array(z.int())]) }),
  'discriminated alternatives': z.object({
    a: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('go'), by: z.int().min(1).max(3) }),
      z.object({ kind: z.literal('wait') }),
    ]),
  }),
  'several at once': z.object({ a: z.intersection(z.object({ x: z.int() }), z.object({ y: z.string() })) }),
  'a tree': z.object({ root: Tree }),
  'an expression': z.object({ expression: Expression }),
  anything: z.object({ a: z.any(), b: z.unknown() }),
  'loose objects': z.looseObject({ a: z.int() }),
}

describe('sampleJson', () => {
  it.each(Object.entries(SCHEMAS))('draws what the schema allows: %s', (_, schema) => {
    const { tool } = { tool: z.toJSONSchema(schema, { io: 'input' }) as JsonObject }
    fc.assert(
      fc.property(fc.string(), (seed) => {
        const sampled = sampleJson(tool, createRng(seed))
        const { error } = schema.safeParse(sampled)
        expect(error?.issues, JSON.stringify(sampled)).toBeUndefined()
        // Values of reasonable size, whatever the schema would allow.
        expect(JSON.stringify(sampled).length).toBeLessThan(20_000)
      }),
    )
  })

  it('draws the same from the same seed', () => {
    const schema = z.toJSONSchema(z.object({ a: z.array(z.int()), b: z.string() })) as JsonObject
    fc.assert(
      fc.property(fc.string(), (seed) => {
        expect(sampleJson(schema, createRng(seed))).toEqual(sampleJson(schema, createRng(seed)))
      }),
    )
  })

  it('reaches every value of a small range', () => {
    const schema = z.toJSONSchema(z.object({ a: z.int().min(1).max(4) })) as JsonObject
    const rng = createRng('a')
    const drawn = new Set(Array.from({ length: 200 }, () => (sampleJson(schema, rng) as { a: number }).a))
    expect(drawn).toEqual(new Set([1, 2, 3, 4]))
  })

  it('follows the definitions of older drafts', () => {
    const schema = {
      type: 'object',
      required: ['a'],
      properties: { a: { $ref: '#/definitions/side' } },
      definitions: { side: { enum: ['left', 'right'] } },
    }
    expect(['left', 'right']).toContain((sampleJson(schema, createRng('a')) as { a: string }).a)
  })
})

describe('randomPolicy', () => {
  const tools = ['go', 'stay'].map((name) => ({
    name,
    description: '',
    inputSchema: z.toJSONSchema(z.object({ by: z.int().min(1).max(6) })) as JsonObject,
    outputSchema: null,
  }))
  const play = async (seed: string) => {
    const player = await randomPolicy().start({ task: { prompt: '', hints: [], params: {} }, tools, seed })
    const view = { last: null }
    return Promise.all(Array.from({ length: 20 }, () => player({ text: '', structured: null }, view)))
  }

  it('plays the same game from the same seed, and another from another', async () => {
    expect(await play('a')).toEqual(await play('a'))
    expect(await play('b')).not.toEqual(await play('a'))
  })

  it('tries every tool', async () => {
    expect(new Set((await play('a')).map(({ tool }) => tool))).toEqual(new Set(['go', 'stay']))
  })

  it('has nothing to do without tools', () => {
    const context = { task: { prompt: '', hints: [], params: {} }, tools: [], seed: 'a' }
    expect(() => randomPolicy().start(context)).toThrow(expect.objectContaining({ code: 'option-invalid' }))
  })
})
