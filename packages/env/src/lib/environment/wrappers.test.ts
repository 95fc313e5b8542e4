import { inProcess } from '@episodic/mcp-server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { createWalkHost } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'
import type { Connection } from './connection.ts'
import type { Environment } from './environment.ts'
import type { Episode } from './episode.ts'
import { returnsOf } from './returns.ts'
import { runEpisode } from './run-episode.ts'
import { withLimits } from './with-limits.ts'
import { withShaping } from './with-shaping.ts'
import { withWeights } from './with-weights.ts'

const anyGame = fc.record({
  seed: fc.string({ minLength: 1 }),
  size: fc.integer({ min: 2, max: 6 }),
  steps: fc.integer({ min: 1, max: 20 }),
  moves: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 20, maxLength: 20 }),
})
type Game = typeof anyGame extends fc.Arbitrary<infer T> ? T : never
const anyWeight = fc.double({ min: -10, max: 10, noNaN: true })
const anyDiscount = fc.double({ min: 0, max: 1, noNaN: true })

async function withWalk(run: (connection: Connection) => Promise<void>): Promise<void> {
  await using host = createWalkHost()
  await using connection = await connect(inProcess(host))
  await run(connection)
}

function play(environment: Environment, { seed, size, steps, moves }: Game): Promise<Episode> {
  return runEpisode({
    createEnvironment: () => environment,
    policy: {
      name: 'moves',
      start() {
        let next = 0
        return () => move(moves[next++] as number)
      },
    },
    task: { params: { size }, limits: { steps }, seed },
  })
}

describe('withWeights', () => {
  it('weighs the terms and leaves them raw', () =>
    withWalk((connection) =>
      fc.assert(
        fc.asyncProperty(anyGame, anyWeight, anyWeight, async (game, arrived, thrift) => {
          const plain = await play(connection.environment(), game)
          const weighed = await play(withWeights(connection.environment(), { arrived, thrift }), game)
          expect(weighed.steps.map(({ reward }) => reward.terms)).toEqual(plain.steps.map(({ reward }) => reward.terms))
          for (const { reward } of weighed.steps) {
            const terms = reward.terms as Record<'arrived' | 'thrift' | 'refused', number>
            expect(reward.total).toBeCloseTo(arrived * terms.arrived + thrift * terms.thrift + terms.refused, 10)
          }
        }),
      ),
    ))

  it('refuses a weight of no term, and one that is no number', () =>
    withWalk(async (connection) => {
      for (const [term, weight] of [
        ['luck', 1],
        ['toString', 1],
        ['arrived', Number.NaN],
      ] as const)
        expect(() => withWeights(connection.environment(), { [term]: weight })).toThrow(
          expect.objectContaining({ code: 'option-invalid' }),
        )
    }))
})

describe('withShaping', () => {
  it('telescopes: over an episode it sums to γ-discounted Φ at the end minus Φ at the start', () =>
    withWalk((connection) =>
      fc.assert(
        fc.asyncProperty(anyGame, anyDiscount, async (game, discount) => {
          const episode = await play(withShaping(connection.environment(), { discount }), game)
          if (episode.kind === 'failed') throw episode.cause
          const { start, steps, end } = episode
          const atStart = start.info.potential as number
          const atEnd = end.kind === 'terminated' ? 0 : (steps.at(-1)?.info.potential as number)
          const discounted = steps.reduce((sum, { reward }, t) => sum + discount ** t * reward.shaping, 0)
          expect(discounted).toBeCloseTo(discount ** steps.length * atEnd - atStart, 8)
        }),
      ),
    ))

  it('sums to minus the starting potential over a terminated episode at discount 1', () =>
    withWalk(async (connection) => {
      const environment = withShaping(connection.environment())
      const game = { seed: 'a', size: 2, steps: 500, moves: [1, -1] }
      const episode = await play(environment, {
        ...game,
        moves: Array.from({ length: 500 }, (_, i) => game.moves[i % 2] as number),
      })
      if (episode.kind === 'failed') throw episode.cause
      expect(episode.end).toEqual({ kind: 'terminated', reason: 'arrived' })
      const shaping = episode.steps.reduce((sum, { reward }) => sum + reward.shaping, 0)
      expect(shaping).toBeCloseTo(-(episode.start.info.potential as number), 10)
    }))

  it('keeps Φ where the episode was cut short', () =>
    withWalk(async (connection) => {
      const environment = withShaping(connection.environment())
      const { info } = await environment.reset({ seed: 'a', limits: { steps: 1 } })
      const { end, info: after, reward } = await environment.step(move(0))
      expect(end?.kind).toBe('truncated')
      expect(reward.shaping).toBe((after.potential as number) - (info.potential as number))
    }))

  it('starts anew at every reset', () =>
    withWalk(async (connection) => {
      const environment = withShaping(connection.environment())
      const shapings: number[] = []
      for (let i = 0; i < 2; i++) {
        await environment.reset({ seed: 'a' })
        shapings.push((await environment.step(move(3))).reward.shaping)
      }
      expect(shapings[1]).toBe(shapings[0])
    }))

  it('refuses a world without a potential, and a discount out of range', () =>
    withWalk(async (connection) => {
      const invalid = expect.objectContaining({ code: 'option-invalid' })
      expect(() => withShaping(connection.environment('rest'))).toThrow(invalid)
      for (const discount of [-0.1, 1.1, Number.NaN])
        expect(() => withShaping(connection.environment(), { discount })).toThrow(invalid)
    }))
})

describe('wrappers', () => {
  it('weigh and shape in any order to the same reward', () =>
    withWalk((connection) =>
      fc.assert(
        fc.asyncProperty(anyGame, anyWeight, anyDiscount, async (game, thrift, discount) => {
          const one = await play(withShaping(withWeights(connection.environment(), { thrift }), { discount }), game)
          const other = await play(withWeights(withShaping(connection.environment(), { discount }), { thrift }), game)
          expect(other.steps.length).toBe(one.steps.length)
          for (const [i, { reward }] of one.steps.entries()) {
            expect(other.steps[i]?.reward.total).toBeCloseTo(reward.total, 8)
            expect(other.steps[i]?.reward.shaping).toBe(reward.shaping)
          }
        }),
      ),
    ))

  it('leave the return without shaping as it was', () =>
    withWalk((connection) =>
      fc.assert(
        fc.asyncProperty(anyGame, async (game) => {
          const plain = returnsOf((await play(connection.environment(), game)).steps, 1)
          const shaped = returnsOf((await play(withShaping(connection.environment()), game)).steps, 1)
          expect(shaped.unshaped).toBeCloseTo(plain.total, 8)
        }),
      ),
    ))
})

describe('withLimits', () => {
  it('holds the smallest of its own limit, the task’s and the world’s', () =>
    withWalk((connection) =>
      fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 100 }), async (own, asked) => {
          await using environment = withLimits(connection.environment(), { steps: own, bytes: 4_096 })
          const { info } = await environment.reset({ limits: { steps: asked, seconds: 9 } })
          expect(info.limits).toEqual({ steps: Math.min(own, asked, 50), seconds: 9, bytes: 4_096 })
        }),
      ),
    ))

  it('leaves what neither names to the world', () =>
    withWalk(async (connection) => {
      const { info } = await withLimits(connection.environment(), { seconds: 9 }).reset()
      expect(info.limits).toEqual({ steps: 50, seconds: 9, bytes: 67_108_864 })
    }))
})
