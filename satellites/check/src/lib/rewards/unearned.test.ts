import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import type { EpisodeEnd } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from '../check-world.ts'
import { turnsGame } from './turns-game.fixture.ts'

interface Judged {
  readonly end: EpisodeEnd | null
  readonly refused: unknown
  readonly found: number
}

/** A number from 1 to 10 to find. */
function hiddenNumber(
  pay: (judged: Judged) => number,
  success: (end: EpisodeEnd, found: number) => boolean = (_, found) => found === 1,
) {
  return {
    environment: defineEnvironment({
      name: 'hidden-number',
      version: '1.0.0',
      description: 'Find a number from 1 to 10.',
      params: z.object({}),
      state: { public: z.object({ tries: z.int(), found: z.int() }), private: z.object({ secret: z.int() }) },
      limits: { steps: 12 },
      start: ({ rng }) => ({ public: { tries: 0, found: 0 }, private: { secret: rng.int(1, 10) } }),
      observe: ({ tries }) => `Tried ${tries} numbers.`,
      tools: ({ tool }) => ({
        guess: tool({
          description: 'Guess the number.',
          input: z.object({ value: z.int().min(1).max(10).describe('Your guess.') }),
          play({ state, input, reveal, end, say }) {
            state.public.tries += 1
            if (!reveal(input.value === state.private.secret)) return say('No.')
            state.public.found = 1
            end('found')
            return say('Yes.')
          },
        }),
      }),
      rewards: {
        found: ({ end, refused, after }) => pay({ end, refused, found: after.public.found }),
        cost: () => -0.01,
      },
      success: ({ end, state }) => success(end, state.public.found),
    }),
    solver: definePolicy({
      name: 'counting',
      start() {
        let value = 0
        return () => ({ tool: 'guess', arguments: { value: (value++ % 10) + 1 } })
      },
    }),
  }
}

async function found(world: Parameters<typeof checkWorld>[0]) {
  const { checks } = await checkWorld(world, { only: ['rewards'] })
  return checks.flatMap(({ findings }) => findings.map(({ name }) => name.split(':', 1)[0]))
}

describe('the rewards check of an episode that a limit cuts off', () => {
  it.each<[string, (judged: Judged) => number]>([
    ['for any end', ({ end }) => (end ? 1 : 0)],
    ['for any end of a call that was not refused', ({ end, refused }) => (end && !refused ? 1 : 0)],
    ['for a truncated end alone', ({ end }) => (end?.kind === 'truncated' ? 0.5 : 0)],
    ['for the step limit', ({ end }) => (end?.reason === 'step-limit' ? 1 : 0)],
  ])('finds a term that pays %s', async (_, pay) => {
    expect(await found(hiddenNumber(pay))).toContain('truncation-paid')
  })

  it.each<[string, (judged: Judged) => number]>([
    ['for the reason', ({ end }) => (end?.reason === 'found' ? 1 : 0)],
    ['for what was achieved by the end', ({ end, found: achieved }) => (end ? achieved : 0)],
    ['a cost until the end', ({ end, found: achieved }) => (end ? achieved : -0.01)],
  ])('finds nothing in a term that pays %s', async (_, pay) => {
    expect(await found(hiddenNumber(pay))).toEqual([])
  })

  it.each<[string, (end: EpisodeEnd, found: number) => boolean]>([
    ['any end', () => true],
    ['a limit', (end) => end.kind === 'truncated'],
    ['whatever is not a failure', (end) => end.reason !== 'lost'],
  ])('finds a success for %s', async (_, success) => {
    expect(await found(hiddenNumber(({ end }) => (end?.reason === 'found' ? 1 : 0), success))).toEqual([
      'success-unearned',
    ])
  })

  it('finds a term of a game that pays a seat for it, and a success of it', async () => {
    const race = (pays: (end: EpisodeEnd | null) => boolean) => turnsGame({ last: 5, steps: 20, pays })
    const names = await found({ environment: race((end) => end !== null) })
    expect(names).toEqual(expect.arrayContaining(['truncation-paid', 'success-unearned']))
    expect(await found({ environment: race((end) => end?.reason === 'counted') })).toEqual([])
  })
})
