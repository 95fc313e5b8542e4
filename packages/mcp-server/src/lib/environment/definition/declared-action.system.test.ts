import type { JsonObject } from '@episodic/protocol'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { inProcess } from '../../dispatch/in-process.ts'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { openSqliteFile } from '../../fixtures/sqlite-file.fixture.ts'
import { asking, call, createTestHost, freshKey } from '../../fixtures/testbed.fixture.ts'
import { declaredAction } from './declared-action.ts'
import { defineEnvironment } from './define-environment.ts'

const Place = z.object({ x: z.int(), y: z.int().default(0) })

const INPUT = z.object({
  at: Place,
  path: z.array(Place).optional(),
  byName: z.record(z.string(), Place).optional(),
  note: z.string().trim().nullable().default(null),
  strict: z.strictObject({ on: z.boolean() }).optional(),
  either: z.union([z.object({ a: z.int() }), z.object({ b: z.int() })]).optional(),
  doubled: z.preprocess((value) => Number(value) * 2, z.number()).optional(),
})

const atlas = defineEnvironment({
  name: 'atlas',
  version: '1.0.0',
  description: 'Counts the places that are drawn on a map.',
  params: z.object({}),
  state: { public: z.object({ drawn: z.int() }), private: z.object({}) },
  history: { entries: 5, bytes: 10_000 },
  start: () => ({ public: { drawn: 0 }, private: {} }),
  observe: ({ drawn }) => `${drawn} places are drawn.`,
  tools: ({ tool }) => ({
    draw: tool({
      description: 'Draws places.',
      input: INPUT,
      play({ state, input, say }) {
        state.public.drawn += 1 + (input.path?.length ?? 0)
        return say('Drawn.')
      },
    }),
  }),
  rewards: { cost: ({ input }) => -Object.keys(input).length },
})

const STORES: Readonly<Record<string, () => Promise<SessionStore>>> = {
  memory: async () => createMemoryStore(),
  sqlite: openSqliteFile,
}

describe('declaredAction', () => {
  const anyPlace = fc.record({ x: fc.integer(), y: fc.integer(), z: fc.anything() }, { requiredKeys: ['x'] })
  const anyArguments = fc.record(
    {
      at: anyPlace,
      path: fc.array(anyPlace),
      byName: fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), anyPlace),
      note: fc.option(fc.string()),
      strict: fc.record({ on: fc.boolean(), more: fc.integer() }, { requiredKeys: ['on'] }),
      either: fc.record({ a: fc.integer(), b: fc.integer(), c: fc.integer() }, { requiredKeys: [] }),
      doubled: fc.integer(),
      more: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )

  it('keeps all that decides what the schema makes of the arguments', () => {
    fc.assert(
      fc.property(anyArguments, (sent) => {
        const args = JSON.parse(JSON.stringify(sent))
        const kept = declaredAction(atlas, { tool: 'draw', arguments: args })
        expect(declaredAction(atlas, kept)).toBe(kept)
        const [whole, part] = [INPUT.safeParse(args), INPUT.safeParse(kept.arguments)]
        expect(part.success).toBe(whole.success)
        expect(part.data).toEqual(whole.data)
        expect(part.error?.issues).toEqual(whole.error?.issues)
      }),
    )
  })

  it('drops what the schema drops, at any depth, and returns the very action of which it drops nothing', () => {
    const args: JsonObject = { at: { x: 1, z: 'dropped' }, path: [{ x: 1 }, { x: 2, z: 'dropped' }], more: 'dropped' }
    const kept = declaredAction(atlas, { tool: 'draw', arguments: args })
    expect(kept).toEqual({ tool: 'draw', arguments: { at: { x: 1 }, path: [{ x: 1 }, { x: 2 }] } })
    expect(declaredAction(atlas, kept)).toBe(kept)
  })

  it('keeps a key named __proto__ as a key, and not as a prototype', () => {
    const args = JSON.parse('{"at":{"x":1},"byName":{"__proto__":{"x":2,"z":"dropped"}},"__proto__":{"note":"x"}}')
    const kept = declaredAction(atlas, { tool: 'draw', arguments: args })
    expect(JSON.stringify(kept.arguments)).toBe('{"at":{"x":1},"byName":{"__proto__":{"x":2}}}')
    expect(declaredAction(atlas, kept)).toBe(kept)
  })

  it('keeps nothing of a call of a tool that does not exist but the beginning of its name', () => {
    const { tool, arguments: args } = declaredAction(atlas, { tool: 'x'.repeat(1_000_000), arguments: { y: 1 } })
    expect(tool.length).toBeLessThan(200)
    expect(args).toEqual({})
  })
})

describe.each(Object.keys(STORES))('undeclared arguments of a step, in %s', (name) => {
  const open = async (bounds = {}) => {
    const store = await (STORES[name] as () => Promise<SessionStore>)()
    const { host } = createTestHost({ environments: [atlas], store, bounds })
    const { session, seats } = await host.open(null, asking({ environment: 'atlas', seed: 'map' }))
    return { host, session, capability: seats.agent?.capability as string }
  }
  const junk = 'x'.repeat(100_000)
  const draw = (x: number, seq: number, more = {}) => call('draw', { at: { x, ...more }, ...more }, seq)

  it('are kept nowhere, and cost a session no bytes', async () => {
    const [plain, stuffed] = [await open(), await open()]
    for (let seq = 0; seq < 3; seq++) {
      const { step } = await atControl(stuffed.host, stuffed.session).step(draw(seq, seq, { junk }))
      expect(step).toEqual((await atControl(plain.host, plain.session).step(draw(seq, seq))).step)
      expect(step.action.arguments).toEqual({ at: { x: seq } })
    }
    const sessionOf = async ({ host }: typeof plain) => (await host.list({ limit: 1 })).sessions[0]
    const bytes = (await sessionOf(stuffed))?.bytes as number
    // Ids have one length, so nothing else differs in size.
    expect(bytes).toBe((await sessionOf(plain))?.bytes)
    expect(bytes).toBeGreaterThan(600)
    expect(bytes).toBeLessThan(5_000)
  })

  it('do not make another request of a retry', async () => {
    const { host, session } = await open()
    const first = await atControl(host, session).step(draw(1, 0, { junk }))
    for (const more of [{}, { junk }, { junk: 'other' }])
      expect(await atControl(host, session).step(draw(1, 0, more))).toEqual({ ...first, replayed: true })
    await expect(atControl(host, session).step(draw(2, 0, { junk }))).rejects.toMatchObject({ code: 'seq-reused' })
  })

  it('are not needed to play a session again from its step log', async () => {
    const { host, session } = await open()
    await atControl(host, session).step(draw(1, 0, { junk }))
    await atControl(host, session).step(call('erase', { junk }, 1))
    await atControl(host, session).step(call('draw', { at: 'nowhere', junk }, 2))
    await atControl(host, session).step(draw(2, 3, { junk }))
    for (const at of [1, 2, 3, 4]) {
      const [fork] = await atControl(host, session).fork({ at, requestKey: freshKey() })
      const { step } = await atControl(host, fork?.session as string).step(draw(9, at))
      expect(step.observation.text).toContain(`${at === 4 ? 3 : 2} places are drawn.`)
    }
  })

  it('do not lift the limit of a step log: once it is full, further calls are refused and change nothing', async () => {
    const { host, session, capability } = await open({ logBytes: 150_000 })
    const say = (seq: number) => call('draw', { at: { x: seq }, note: junk }, seq)
    await atControl(host, session).step(say(0))
    const last = await atControl(host, session).step(say(1))
    const agent = inProcess(host, {
      endpoint: 'agent',
      principal: null,
      address: { by: 'capability', token: capability },
    })
    expect(await agent.request('tools/call', { name: 'draw', arguments: { at: { x: 2 } } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('The record of this session is full.') }],
    })
    const refusal = atControl(host, session).step(draw(2, 2))
    await expect(refusal).rejects.toMatchObject({ code: 'too-large', details: { limit: 150_000 } })
    await expect(refusal).rejects.toThrow('no further step is played')
    expect(await atControl(host, session).step(say(1))).toEqual({ ...last, replayed: true })
    expect((await atControl(host, session).state()).state.public).toEqual({ drawn: 2 })
    const [fork] = await atControl(host, session).fork({ requestKey: freshKey() })
    await atControl(host, fork?.session as string).step(draw(2, 2))
    expect(await atControl(host, session).close()).toMatchObject({ end: { reason: 'closed' } })
  })
})
