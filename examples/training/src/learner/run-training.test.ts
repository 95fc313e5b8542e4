import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AlgorithmName, HYPERPARAMETERS, type WorldName } from '../hyperparameters.ts'
import { referenceLines } from '../worlds/reference-lines.ts'
import { WORLDS } from '../worlds/worlds.ts'
import { runTraining } from './run-training.ts'

const stack = new AsyncDisposableStack()
let connection: Connection

beforeAll(async () => {
  const host = stack.use(createHost({ environments: Object.values(WORLDS).map(({ environment }) => environment) }))
  connection = stack.use(await connect(inProcess(host)))
})
afterAll(() => stack.disposeAsync())

interface Asked {
  readonly world: WorldName
  readonly algorithm: AlgorithmName
  readonly seed: string
  readonly episodes: number
  readonly evaluated?: number
}

const train = ({ world, algorithm, episodes, ...options }: Asked) =>
  runTraining({
    connection,
    world: WORLDS[world],
    settings: { ...HYPERPARAMETERS[world][algorithm], episodes },
    points: 1,
    ...options,
  })

describe('runTraining', () => {
  // Few episodes: the best policy needs more of them, and these are enough to see that something is learned.
  it('learns to cross a slippery lake far more often than random play, with PPO', async () => {
    const { points, failures } = await train({
      world: 'frozen-lake',
      algorithm: 'ppo',
      seed: '1',
      episodes: 2_048,
      evaluated: 100,
    })
    const { random, optimum } = await referenceLines(connection, 'frozen-lake', 100)
    expect(points.map(({ episodes }) => episodes)).toEqual([0, 2_048])
    expect(points[1]?.success).toBeGreaterThan(10 * random)
    expect(points[1]?.success).toBeGreaterThan(0.2)
    // A rate of 100 episodes lies at most so far above what is expected, but in one of a thousand cases.
    expect(points[1]?.success).toBeLessThan(optimum + 0.14)
    expect(failures).toBe(0)
  })

  it.each([
    ['frozen-lake', 'reinforce'],
    ['frozen-lake', 'ppo'],
    ['kuhn-poker', 'reinforce'],
  ] as const)(
    'ends with the same parameters every time, and with others for another seed: %s, %s',
    async (world, algorithm) => {
      const hashes = []
      for (const seed of ['1', '1', '2'])
        hashes.push((await train({ world, algorithm, seed, episodes: 16, evaluated: 1 })).parameters)
      expect(hashes[0]).toBe(hashes[1])
      expect(hashes[0]).not.toBe(hashes[2])
    },
  )

  it('gets closer to an equilibrium of Kuhn poker by playing against itself', async () => {
    const { points } = await train({ world: 'kuhn-poker', algorithm: 'reinforce', seed: '1', episodes: 1_600 })
    const { random } = await referenceLines(connection, 'kuhn-poker', 0)
    expect(points[0]?.return).toBeCloseTo(random)
    expect(points[1]?.return).toBeGreaterThan(0.6 * random)
  })
})
