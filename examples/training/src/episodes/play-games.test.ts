import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openNetwork } from '../network/network.ts'
import { WORLDS } from '../worlds/worlds.ts'
import { createActor } from './actor.ts'
import { type PlayedGame, playGames } from './play-games.ts'

const world = WORLDS['kuhn-poker']
const stack = new AsyncDisposableStack()
let connection: Connection

beforeAll(async () => {
  const host = stack.use(createHost({ environments: [world.environment] }))
  connection = stack.use(await connect(inProcess(host)))
})
afterAll(() => stack.disposeAsync())

/** Plays four games of which the second loses some steps, each after it was played: from the first one, so many. */
async function playWithFailures(failures: number) {
  const network = await openNetwork({ inputs: world.inputs, hidden: 8, actions: world.actions.length })
  const actor = createActor(network, network.initialize('a network'))
  let left = failures
  const games = [0, 1, 2, 3].map((at): PlayedGame => {
    const game = connection.game(world.environment.name)
    return {
      info: game.info,
      reset: (...given) => game.reset(...given),
      async step(...given) {
        const step = await game.step(...given)
        if (at === 1 && left-- > 0) throw new Error('The answer was lost.')
        return step
      },
    }
  })
  const seeds = games.map((_, at) => ({ environment: `game ${at}`, actions: `actions ${at}` }))
  return playGames(games, world, actor, seeds)
}

describe('playGames', () => {
  it('plays a game that failed again with its seeds, and counts the failure', async () => {
    const undisturbed = await playWithFailures(0)
    const disturbed = await playWithFailures(1)
    expect(undisturbed.trajectories).toHaveLength(8)
    expect(undisturbed.failures).toBe(0)
    expect(disturbed.trajectories).toEqual(undisturbed.trajectories)
    expect(disturbed.failures).toBe(1)
  })

  it('gives up a game that fails five times', async () => {
    await expect(playWithFailures(5)).rejects.toThrow('The answer was lost.')
    expect((await playWithFailures(4)).failures).toBe(4)
  })
})
