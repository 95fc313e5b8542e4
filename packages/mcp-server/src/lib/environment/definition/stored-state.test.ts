import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { atCapability, atControl } from '../../fixtures/addressed.fixture.ts'
import { asking, call, createTestHost, freshKey } from '../../fixtures/testbed.fixture.ts'
import { defineEnvironment } from './define-environment.ts'

/** A world that counts, with more in its state than the version before, or under another version. */
function counting(more: { version?: string; public?: z.ZodRawShape; private?: z.ZodRawShape } = {}) {
  let plays = 0
  const environment = defineEnvironment({
    name: 'counting',
    version: more.version ?? '1.0.0',
    description: 'Counts.',
    params: z.object({}),
    state: {
      public: z.object({ count: z.int(), ...more.public }),
      private: z.object({ secret: z.string(), ...more.private }),
    },
    start: () => ({ public: { count: 0, colour: 'red' }, private: { secret: 'hidden', key: 'hidden' } }) as never,
    observe: ({ count }) => `${count}`,
    tools: ({ tool }) => ({
      count: tool({
        description: 'Counts one up.',
        input: z.object({}),
        play({ state, say }) {
          plays += 1
          ;(state.public as { count: number }).count += 1
          return say('Counted.')
        },
      }),
    }),
    rewards: {},
  })
  return { environment, plays: () => plays }
}

/** A session that an earlier server has kept. */
async function kept(more: Parameters<typeof counting>[0] = {}) {
  const store = createMemoryStore()
  const before = createTestHost({ environments: [counting(more).environment], store })
  const { session, seats } = await before.host.open(null, asking({ environment: 'counting', seed: 'one' }))
  await atControl(before.host, session).step(call('count', {}, 0))
  const snapshot = await atControl(before.host, session).snapshot({})
  const serve = (world: ReturnType<typeof counting>) => createTestHost({ environments: [world.environment], store })
  return { session, capability: seats.agent?.capability as string, snapshot, serve }
}

describe('a session from the store', () => {
  it.each([
    ['public', { public: { colour: z.string() } }],
    ['private', { private: { key: z.string() } }],
    ['public', { public: { count: z.string() } }],
  ] as const)('whose %s state does not fit the schema any more is refused before it is played', async (part, more) => {
    const { session, capability, serve } = await kept()
    const world = counting(more)
    const { host, faults } = serve(world)
    const refusals = [
      atControl(host, session).step(call('count', {}, 1)),
      atCapability(host, capability).step(call('count')),
      atControl(host, session).state(),
    ]
    for (const [i, refusal] of refusals.entries()) {
      const error = await refusal.catch((error) => error)
      expect(error).toMatchObject({ code: 'unknown-environment' })
      expect(error.message).toContain(
        `The ${part} state of this session, which the store keeps, does not fit the ${part} state schema of counting 1.0.0`,
      )
      expect(error.message).toContain(faults[i]?.reference)
      // Names of private fields are for the log.
      expect(error.message).not.toMatch(/key|secret/)
    }
    expect(faults[0]?.cause).toMatchObject({ message: expect.stringContaining('expected string') })
    expect(world.plays()).toBe(0)
  })

  it('is played where its state fits, and where the schema declares less', async () => {
    for (const more of [{}, { public: { colour: z.string().optional() } }]) {
      const { session, serve } = await kept()
      const { step } = await atControl(serve(counting(more)).host, session).step(call('count', {}, 1))
      expect(step.observation.structured).toMatchObject({ count: 2 })
    }
  })

  it('is not checked by a schema that changes values, which does not read what it writes', async () => {
    const key = z
      .string()
      .transform((text) => text.length)
      .pipe(z.number())
    const { session, serve } = await kept({ private: { key } })
    expect(await atControl(serve(counting({ private: { key } })).host, session).state()).toMatchObject({
      state: { private: { key: 6 } },
    })
  })

  it('of another version is left to the server of that version, and expires as any does', async () => {
    const { session, serve } = await kept()
    const [old, current] = [serve(counting()), serve(counting({ version: '2.0.0' }))]
    await expect(atControl(current.host, session).step(call('count', {}, 1))).rejects.toThrow(
      'which is not served here',
    )
    await atControl(old.host, session).step(call('count', {}, 1))
    await old.host[Symbol.asyncDispose]()
    for (let looks = 0; looks < 2; looks++) {
      current.clock.advance(901_000)
      await current.host.sweep()
    }
    expect(await current.host.list({ limit: 10 })).toEqual({ total: 0, sessions: [] })
  })

  it('of another version is refused by name, and its snapshot can be restored once it is migrated', async () => {
    const { session, snapshot, serve } = await kept()
    const { host } = serve(counting({ version: '2.0.0', public: { colour: z.string() } }))
    await expect(atControl(host, session).state()).rejects.toThrow(
      'This session plays counting 1.0.0, which is not served here.',
    )
    const restore = (state: object) =>
      host.restore(null, {
        snapshot: {
          ...snapshot,
          environment: { name: 'counting', version: '2.0.0' },
          state: { ...snapshot.state, public: { ...snapshot.state.public, ...state } },
        },
        requestKey: freshKey(),
      })
    await expect(restore({})).rejects.toMatchObject({ code: 'invalid-params' })
    const migrated = await restore({ colour: 'blue' })
    const { step } = await atControl(host, migrated.session).step(call('count', {}, 1))
    expect(step.observation.structured).toEqual({ count: 2, colour: 'blue' })
  })
})
