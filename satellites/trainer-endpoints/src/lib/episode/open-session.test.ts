import { createHost, defineEnvironment, defineGame } from '@episodic/mcp-server'
import { type SessionStore, StateError } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { numberGuessing } from '../fixtures/number-guessing.fixture.ts'
import { leaveSession } from './leave-session.ts'
import { openSession } from './open-session.ts'
import { playStep } from './play-step.ts'

const guess = { tool: 'guess', arguments: { value: 500 } }

function testHost(options: Partial<Parameters<typeof createHost>[0]> = {}) {
  const host = createHost({ environments: [numberGuessing], ...options })
  onTestFinished(() => host[Symbol.asyncDispose]())
  return host
}

describe('an environment of several seats', () => {
  const coins = defineGame({
    name: 'coins',
    version: '1.0.0',
    description: 'Choose a side.',
    seats: ['heads', 'tails'],
    state: { public: z.object({}), own: z.object({}), private: z.object({}) },
    start: () => ({ public: {}, own: { heads: {}, tails: {} }, private: {} }),
    turn: () => 'heads',
    observe: () => 'Two coins.',
    tools: ({ tool }) => ({ toss: tool({ description: 'Toss.', input: z.object({}), play: ({ say }) => say('') }) }),
    rewards: {},
  })

  it('is rejected, and nothing is opened', async () => {
    const host = testHost({ environments: [coins] })
    const opening = openSession(host, 'ada', { environment: 'coins' })
    await expect(opening).rejects.toThrow('coins has several seats (heads, tails), and this protocol plays one.')
    expect((await host.list({ limit: 1 })).total).toBe(0)
  })
})

describe('a world that judges what its player has left', () => {
  const garden = defineEnvironment({
    name: 'garden',
    version: '1.0.0',
    description: 'Sow.',
    params: z.object({ salted: z.boolean().default(false) }),
    state: { public: z.object({ sown: z.int() }), private: z.object({ score: z.number() }) },
    start: () => ({ public: { sown: 0 }, private: { score: 0 } }),
    observe: () => '',
    tools: ({ tool }) => ({
      sow: tool({
        description: 'Sows.',
        input: z.object({}),
        play({ state, say }) {
          state.public.sown += 1
          return say('')
        },
      }),
    }),
    absent: ({ tool }) =>
      tool({
        description: 'Judges.',
        input: z.object({}),
        play({ state, params, say }) {
          if (params.salted) throw new Error('Nothing grows.')
          state.private.score = state.public.sown
          return say('')
        },
      }),
    rewards: { score: ({ before, after }) => after.private.score - before.private.score },
  })
  const sow = { tool: 'sow', arguments: {} }

  it('does so when its client leaves after a step, in which the host says the reward', async () => {
    const left: number[] = []
    const host = testHost({
      environments: [garden],
      onLeft: ({ step }) => left.push(step.report.terms.score as number),
    })
    const { session } = await openSession(host, 'ada', { environment: 'garden' })
    await playStep(session, sow, 0)
    await playStep(session, sow, 1)
    await leaveSession(session)
    await leaveSession(session)
    expect(left).toEqual([2])
    const unplayed = await openSession(host, 'ada', { environment: 'garden' })
    await leaveSession(unplayed.session)
    expect([left, (await host.list({ limit: 1 })).total]).toEqual([[2], 0])
  })
})

describe('playStep', () => {
  it('plays a step once whose commit got lost on the way back', async () => {
    let lose = false
    const store = createMemoryStore()
    const commit: SessionStore['commit'] = async (...args) => {
      const done = await store.commit(...args)
      if (!lose) return done
      lose = false
      throw new StateError('store-unavailable', 'The connection broke.')
    }
    const host = testHost({
      store: new Proxy(store, {
        get: (_, name: keyof SessionStore) => (name === 'commit' ? commit : store[name].bind(store)),
      }),
    })
    const { session } = await openSession(host, 'ada', { environment: 'number-guessing', seed: 1 })
    lose = true
    expect((await playStep(session, guess, 0)).report.seq).toBe(1)
    expect((await playStep(session, guess, 1)).report.seq).toBe(2)
  })
})
