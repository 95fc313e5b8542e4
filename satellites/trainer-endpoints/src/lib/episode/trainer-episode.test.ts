import { createHost, defineEnvironment, defineGame } from '@episodic/mcp-server'
import { type SessionStore, StateError } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { numberGuessing } from '../fixtures/number-guessing.fixture.ts'
import { openEpisode } from './trainer-episode.ts'

const guess = (value: number) => ({ tool: 'guess', arguments: { value } })
const RANGE = { environment: 'number-guessing', params: { low: 1, high: 1 } }

function testHost(options: Partial<Parameters<typeof createHost>[0]> = {}) {
  const host = createHost({ environments: [numberGuessing], ...options })
  onTestFinished(() => host[Symbol.asyncDispose]())
  return host
}

describe('openEpisode', () => {
  it('takes a number and the text of it as the same seed', async () => {
    const host = testHost()
    const seeds = [0, '0', false, null, 7.5]
    const opened = await Promise.all(
      seeds.map((seed) => openEpisode(host, 'ada', { environment: 'number-guessing', seed }, 'steps')),
    )
    const [zero, text, no, drawn, broken] = opened.map((episode) => episode.opened.seed)
    expect([zero, text, no, broken]).toEqual(['0', '0', 'false', '7.5'])
    expect(drawn).toHaveLength(22)
  })

  it.each([
    { seed: [] },
    { seed: '' },
    { seed: 'x'.repeat(257) },
    { params: { low: 'one' } },
    { params: [] as never },
    { limits: { steps: 0.5 } },
  ])('rejects %j', async (request) => {
    const opening = openEpisode(testHost(), 'ada', { environment: 'number-guessing', ...request }, 'steps')
    await expect(opening).rejects.toMatchObject({ code: 'invalid-params' })
  })
})

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
    const opening = openEpisode(host, 'ada', { environment: 'coins' }, 'steps')
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
    const episode = await openEpisode(host, 'ada', { environment: 'garden' }, 'steps')
    await episode.step(sow)
    await episode.step(sow)
    await episode.close()
    await episode.close()
    expect(left).toEqual([2])
    const unplayed = await openEpisode(host, 'ada', { environment: 'garden' }, 'steps')
    await unplayed.close()
    expect([left, (await host.list({ limit: 1 })).total]).toEqual([[2], 0])
  })

  it('closes the session also if it fails in that, which the host reports', async () => {
    const faults: unknown[] = []
    const host = testHost({ environments: [garden], onFault: ({ cause }) => faults.push(cause) })
    const episode = await openEpisode(host, 'ada', { environment: 'garden', params: { salted: true } }, 'steps')
    await episode.step(sow)
    await episode.close()
    expect([faults.length, (await host.list({ limit: 1 })).total]).toEqual([1, 0])
  })
})

describe('TrainerEpisode', () => {
  it('adds up the raw terms of its steps, refused ones included', async () => {
    const episode = await openEpisode(testHost(), 'ada', { ...RANGE, params: { low: 1, high: 100 }, seed: 7 }, 'steps')
    expect(episode.observation.text).toBe('Guess a whole number from 1 to 100. 8 guesses left.')
    expect(await episode.step(guess(500))).toMatchObject({ refused: 'rules', reward: -0.01, seq: 1, end: null })
    const second = await episode.step(guess(1))
    expect(second).toMatchObject({ refused: null, terms: { solved: 0, cost: -0.01 }, seq: 2, replayed: false })
    expect(second.return).toBeCloseTo(-0.02)
    expect(await episode.state()).toMatchObject({ guesses: [{ value: 1 }] })
  })

  it('reports the return with the last step alone, if that is wanted', async () => {
    const params = { low: 1, high: 1, maxGuesses: 3 }
    const episode = await openEpisode(testHost(), 'ada', { ...RANGE, params }, 'return')
    expect(await episode.step(guess(500))).toMatchObject({ reward: 0, terms: { cost: -0.01 } })
    const last = await episode.step(guess(1))
    expect(last).toMatchObject({ end: { kind: 'terminated', reason: 'solved' }, success: true })
    expect(last.reward).toBeCloseTo(0.98)
    expect((await episode.step(guess(1), { seq: 1 })).reward).toBeCloseTo(0.98)
  })

  it('plays concurrent steps one after another', async () => {
    const episode = await openEpisode(testHost(), 'ada', { environment: 'number-guessing', seed: 1 }, 'steps')
    const steps = await Promise.all([500, 500, 500].map((value) => episode.step(guess(value))))
    expect(steps.map(({ seq }) => seq)).toEqual([1, 2, 3])
  })

  it('counts a step once whose stored answer is asked for again', async () => {
    const episode = await openEpisode(testHost(), 'ada', { environment: 'number-guessing', seed: 1 }, 'steps')
    const first = await episode.step(guess(500))
    expect(await episode.step(guess(500), { seq: 0 })).toEqual({ ...first, replayed: true })
    expect(episode).toMatchObject({ seq: 1, return: first.return })
    await expect(episode.step(guess(501), { seq: 0 })).rejects.toMatchObject({ code: 'seq-reused' })
  })

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
    const episode = await openEpisode(host, 'ada', { environment: 'number-guessing', seed: 1 }, 'steps')
    lose = true
    expect(await episode.step(guess(500))).toMatchObject({ seq: 1, replayed: true })
    expect((await episode.step(guess(500))).seq).toBe(2)
  })

  it('closes once, and is gone then', async () => {
    const episode = await openEpisode(testHost(), 'ada', { environment: 'number-guessing' }, 'steps')
    await episode.close()
    await episode.close()
    await expect(episode.step(guess(1))).rejects.toMatchObject({ code: 'session-not-found' })
  })
})
