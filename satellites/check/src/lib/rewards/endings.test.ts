import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import type { EpisodeEnd } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from '../check-world.ts'
import { turnsGame } from './turns-game.fixture.ts'

interface Judged {
  readonly end: EpisodeEnd
  readonly state: { readonly public: { readonly count: number } }
}

interface Variant {
  /** Calls after which the rules end an episode. Default: they never do. */
  readonly endsAt?: number
  readonly success?: (judged: Judged) => boolean
  readonly waive?: Readonly<Record<string, string>>
}

/** A counter that earns for each call of `add`. */
function counter({ endsAt, success = () => false, waive = {} }: Variant) {
  return {
    environment: defineEnvironment({
      name: 'counter',
      version: '1.0.0',
      description: 'Count.',
      params: z.object({}),
      state: { public: z.object({ count: z.int() }), private: z.object({}) },
      limits: { steps: 10 },
      start: () => ({ public: { count: 0 }, private: {} }),
      observe: ({ count }) => `The count is ${count}.`,
      tools: ({ tool }) => ({
        add: tool({
          description: 'Add one.',
          input: z.object({}),
          play({ state, end, say }) {
            state.public.count += 1
            if (state.public.count === endsAt) end('counted')
            return say('Added.')
          },
        }),
        wait: tool({ description: 'Wait.', input: z.object({}), play: ({ say }) => say('Waited.') }),
      }),
      rewards: { added: ({ before, after }) => after.public.count - before.public.count },
      success: (final) => success(final),
      check: { waive },
    }),
    solver: definePolicy({ name: 'adding', start: () => () => ({ tool: 'add', arguments: {} }) }),
  }
}

const results = async (world: Parameters<typeof checkWorld>[0]) =>
  (await checkWorld(world, { only: ['rewards'] })).checks

const warned = async (world: Parameters<typeof checkWorld>[0]) =>
  (await results(world)).flatMap(({ warnings }) => warnings.filter(({ name }) => name === 'never-ended'))

describe('the rewards check of a world in which nothing ends', () => {
  it.each<[string, Variant]>([
    ['that calls no `end`', {}],
    ['with a success that depends on the state', { success: ({ state }) => state.public.count > 3 }],
    ['with a success that no limit is', { success: ({ end }) => end.reason === 'counted' }],
    ['with an end that is never reached', { endsAt: 11 }],
  ])('warns of one %s, names the world and says what to do', async (_, variant) => {
    const [warning] = await warned(counter(variant))
    expect(warning?.what).toBe(
      'The rules of counter ended none of 192 episodes of the solver or random play: the step limit cut all of them off.',
    )
    expect(warning?.advice).toMatch(/^Call `end\('…'\)` in a tool .* `limits\.steps` .*`end\.reason === 'step-limit'`/)
  })

  it('warns without a solver, and asks for one', async () => {
    const { environment } = counter({})
    const [warning] = await warned({ environment })
    expect(warning?.what).toContain('none of 96 episodes of random play')
    expect(warning?.advice).toContain('export a solver')
  })

  it('does not fail for it, and takes a waiver', async () => {
    expect((await results(counter({}))).map(({ findings }) => findings)).toEqual([[]])
    const [waived] = await results(counter({ waive: { 'never-ended': 'It counts for ever.' } }))
    expect(waived?.waived.map(({ name }) => name)).toEqual(['never-ended'])
    expect(waived?.warnings).toEqual([])
  })

  it.each<[string, Variant]>([
    ['ends for the solver alone', { endsAt: 10 }],
    ['counts the step limit as success', { success: ({ end }) => end.reason === 'step-limit' }],
    [
      'counts a limit as success in some states',
      { success: ({ end, state }) => end.kind === 'truncated' && state.public.count > 3 },
    ],
  ])('says nothing of one that %s', async (_, variant) => {
    expect(await warned(counter(variant))).toEqual([])
  })

  it('says nothing of one that takes an event, which may end it', async () => {
    const environment = defineEnvironment({
      name: 'waiting',
      version: '1.0.0',
      description: 'Wait.',
      params: z.object({}),
      state: { public: z.object({ count: z.int() }), private: z.object({}) },
      limits: { steps: 10 },
      start: () => ({ public: { count: 0 }, private: {} }),
      observe: () => 'It is open.',
      events: ({ event }) => ({
        closed: event({ description: 'It closes.', data: z.object({}), apply: ({ end }) => end('closed') }),
      }),
      tools: ({ tool }) => ({
        wait: tool({ description: 'Wait.', input: z.object({}), play: ({ say }) => say('Waited.') }),
      }),
      rewards: { waited: () => 0 },
    })
    expect(await warned({ environment })).toEqual([])
  })

  it('warns of a game, and not of one that ends', async () => {
    const turns = (last: number) => turnsGame({ last, steps: 5, pays: (end) => end?.reason === 'counted' })
    expect((await warned({ environment: turns(100) })).map(({ what }) => what)).toEqual([
      expect.stringContaining('The rules of turns ended none of 96 episodes of random play'),
    ])
    expect(await warned({ environment: turns(5) })).toEqual([])
  })
})
