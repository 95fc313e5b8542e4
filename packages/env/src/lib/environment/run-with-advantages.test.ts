import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import { createRng, seedFor } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { connect } from '../connect.ts'
import { definePolicy, type Policy } from '../policy/policy.ts'
import { runEpisode } from './run-episode.ts'
import { type AdvantageOptions, runWithAdvantages, type StepAdvantage } from './run-with-advantages.ts'

const STEPS = 4
/** The probability that a climb succeeds, and that the policy climbs. */
const [SUCCEEDS, CLIMBS] = [0.7, 0.6]
const DISCOUNT = 0.9

/** A ladder: each step earns the height, and a climb may fail. Staying earns a quarter more. */
const ladder = defineEnvironment({
  name: 'ladder',
  version: '1.0.0',
  description: 'Climb.',
  handle: false,
  params: z.object({}),
  state: { public: z.object({ height: z.int(), step: z.int() }), private: z.object({}) },
  start: () => ({ public: { height: 0, step: 0 }, private: {} }),
  observe: ({ height }) => `You are at ${height}.`,
  tools: ({ tool }) => ({
    move: tool({
      description: 'Climb, or stay.',
      input: z.object({ climb: z.boolean() }),
      play({ state, input, rng, end, say }) {
        if (input.climb && rng.chance(SUCCEEDS)) state.public.height += 1
        state.public.step += 1
        if (state.public.step === STEPS) end('over')
        return say('Done.')
      },
    }),
  }),
  rewards: { height: ({ after }) => after.public.height, rest: ({ input }) => (input.climb ? 0 : 0.25) },
})

const climber = definePolicy({
  name: 'climber',
  start({ seed }) {
    const rng = createRng(seed)
    return () => ({ tool: 'move', arguments: { climb: rng.chance(CLIMBS) } })
  },
})

/** The value of a state, and of an action in it, by enumeration. */
function stateValueOf(step: number, height: number): number {
  if (step === STEPS) return 0
  return CLIMBS * actionValueOf(step, height, true) + (1 - CLIMBS) * actionValueOf(step, height, false)
}
function actionValueOf(step: number, height: number, climb: boolean): number {
  const after = (reached: number) => reached + DISCOUNT * stateValueOf(step + 1, reached)
  return climb ? SUCCEEDS * after(height + 1) + (1 - SUCCEEDS) * after(height) : 0.25 + after(height)
}

async function play(asked: Partial<AdvantageOptions> & { readonly policySeed: string }) {
  await using host = createHost({ environments: [ladder] })
  await using connection = await connect(inProcess(host))
  const options = { createEnvironment: () => connection.environment('ladder'), policy: climber, discount: DISCOUNT }
  const result = await runWithAdvantages({ ...options, seed: 'world', ...asked })
  return { ...result, open: (await host.list({ limit: 10 })).total }
}

/** The estimated and the exact advantages of an episode. */
async function compare(asked: Parameters<typeof play>[0]) {
  const { episode, advantages } = await play(asked)
  return episode.steps.map(({ action }, at) => {
    const height = Number((episode.steps[at - 1] ?? episode.start)?.observation.structured?.height ?? 0)
    const exact = actionValueOf(at, height, action.arguments.climb === true) - stateValueOf(at, height)
    return { ...(advantages[at] as StepAdvantage), exact }
  })
}

describe('runWithAdvantages', () => {
  it('estimates the advantages that enumeration gives', async () => {
    for (const policySeed of ['one', 'two', 'three'])
      for (const { advantage, low, high, exact } of await compare({ policySeed, pairs: 300 })) {
        const standardError = ((high ?? 0) - (low ?? 0)) / 2 / 1.97
        expect(Math.abs((advantage ?? 0) - exact)).toBeLessThan(4 * standardError)
      }
  })

  it('gives intervals of which about 95 % hold the exact advantage', async () => {
    const compared = []
    for (let number = 0; number < 25; number++)
      compared.push(...(await compare({ policySeed: `episode ${number}`, seed: `world ${number}`, pairs: 12 })))
    const held = compared.filter(
      ({ low, high, exact }) => low !== null && high !== null && low <= exact && exact <= high,
    )
    expect(compared).toHaveLength(25 * STEPS)
    expect(held.length / compared.length).toBeGreaterThan(0.88)
    expect(held.length / compared.length).toBeLessThan(1)
  })

  it('plays the episode that is played without advantages, and leaves no session open', async () => {
    const { episode, open } = await play({ policySeed: 'mine', pairs: 3 })
    await using host = createHost({ environments: [ladder] })
    await using connection = await connect(inProcess(host))
    const alone = await runEpisode({
      createEnvironment: () => connection.environment('ladder'),
      policy: climber,
      seed: 'world',
      policySeed: 'mine',
    })
    const facts = ({ steps }: typeof alone) => steps.map(({ milliseconds: _, ...step }) => step)
    expect(facts(episode)).toEqual(facts(alone))
    expect(open).toBe(0)
  })

  it('gives the same for the same seeds, and something else for another seed of the forks', async () => {
    const asked = { policySeed: 'mine', pairs: 6 }
    const [one, again, other] = await Promise.all([play(asked), play(asked), play({ ...asked, forkSeed: 'other' })])
    expect(again.advantages).toEqual(one.advantages)
    expect(again.forkedSteps).toBe(one.forkedSteps)
    expect(other.advantages).not.toEqual(one.advantages)
  })

  it('plays pairs of equal actions one step far, since their difference is exactly 0', async () => {
    const always: Policy = definePolicy({
      name: 'always',
      start: () => () => ({ tool: 'move', arguments: { climb: true } }),
    })
    const { advantages, forkedSteps } = await play({ policySeed: 'mine', policy: always, pairs: 5 })
    for (const each of advantages)
      expect(each).toEqual({ advantage: 0, low: null, high: null, pairs: 5, same: 5, failed: 0 })
    expect(forkedSteps).toBe(STEPS * 5)
  })

  it('estimates no further step once forks have played as many steps as they may', async () => {
    const whole = await play({ policySeed: 'mine', pairs: 4 })
    const { advantages, forkedSteps } = await play({ policySeed: 'mine', pairs: 4, mostSteps: 1 })
    expect(advantages).toEqual([whole.advantages[0], null, null, null])
    expect(forkedSteps).toBeGreaterThan(0)
    expect(forkedSteps).toBeLessThan(whole.forkedSteps)
  })

  it('leaves pairs out of which a line failed', async () => {
    const fragile = definePolicy({
      name: 'fragile',
      start({ seed }) {
        const rng = createRng(seed)
        // The seeds of forks differ from that of the episode; those that end so fail.
        return () => {
          if (seed !== 'mine' && /[0-7]$/.test(seed)) throw new Error('The policy failed.')
          return { tool: 'move', arguments: { climb: rng.chance(CLIMBS) } }
        }
      },
    })
    const { episode, advantages, open } = await play({ policySeed: 'mine', policy: fragile, pairs: 8 })
    expect(episode.kind).toBe('finished')
    for (const [at, each] of advantages.entries()) {
      const seeds = Array.from({ length: 8 }, (_, i) => seedFor(seedFor('mine', 'advantage', at), 'policy', i))
      const failed = seeds.filter((seed) => /[0-7]$/.test(seed)).length
      expect(each).toMatchObject({ pairs: 8 - failed, failed })
    }
    expect(advantages.some((each) => (each?.failed ?? 0) > 0)).toBe(true)
    expect(open).toBe(0)
  })

  it('refuses an environment that cannot be forked, and options out of range', async () => {
    await using host = createHost({ environments: [ladder] })
    await using connection = await connect(inProcess(host))
    const createEnvironment = () => {
      const environment = connection.environment('ladder')
      return { ...environment, info: { ...environment.info, forkable: false }, close: () => environment.close() }
    }
    const refused = runWithAdvantages({ createEnvironment, policy: climber } as unknown as AdvantageOptions)
    await expect(refused).rejects.toThrow(expect.objectContaining({ code: 'not-forkable' }))
    for (const wrong of [{ pairs: 1 }, { pairs: 2.5 }, { discount: 1.1 }, { mostSteps: -1 }])
      await expect(play({ policySeed: 'mine', ...wrong })).rejects.toThrow(
        expect.objectContaining({ code: 'option-invalid' }),
      )
  })
})
