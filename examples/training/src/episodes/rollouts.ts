import { type Connection, withShaping, withWeights } from '@episodic/env'
import type { World } from '../worlds/world.ts'
import type { Actor } from './actor.ts'
import { type EpisodeSeeds, playEpisodes } from './play-episodes.ts'
import { playGames } from './play-games.ts'
import type { Rollout } from './trajectory.ts'
import { createVectorEnvironment } from './vector-environment.ts'

/** Plays batches of episodes of one world. Disposing closes its environments, and not the connection. */
export interface Rollouts extends AsyncDisposable {
  /** Plays one episode for each pair of seeds, with fixed parameters. */
  play(actor: Actor, seeds: readonly EpisodeSeeds[]): Promise<Rollout>
}

/**
 * Creates the environments of a world on a connection, as many as there are episodes in a batch. Rewards are shaped
 * with the potential of the world, if it has one, which does not change which policy is the best.
 */
export function createRollouts(
  connection: Connection,
  world: World,
  { batch, discount }: { readonly batch: number; readonly discount: number },
): Rollouts {
  const { name, multiplayer } = world.environment
  if (multiplayer) {
    const games = Array.from({ length: batch }, () => connection.game(name))
    return {
      play: (actor, seeds) => playGames(games, world, actor, seeds),
      async [Symbol.asyncDispose]() {
        await Promise.all(games.map((game) => game.close()))
      },
    }
  }
  const create = () => {
    const environment = withWeights(connection.environment(name), world.weights ?? {})
    return environment.info.potential ? withShaping(environment, { discount }) : environment
  }
  const vector = createVectorEnvironment(create, batch)
  return {
    play: (actor, seeds) => playEpisodes(vector, world, actor, seeds),
    [Symbol.asyncDispose]: () => vector.close(),
  }
}
