import { connect, type Episode, type Policy, runEpisode } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess } from '@episodic/mcp-server'
import type { JsonObject, LimitsRequest } from '@episodic/protocol'

/** What is played, and by whom. */
export interface EpisodePlay {
  readonly policy: Policy
  /** What the player is asked to do. Default: the description of the environment. */
  readonly prompt?: string
  /** Default: none. */
  readonly hints?: readonly string[]
  /** Default: those of the environment. */
  readonly params?: JsonObject
  /** Decides what the world draws. Default `test`. */
  readonly seed?: string
  /** Default: those of the environment. */
  readonly limits?: LimitsRequest
}

/**
 * Plays one episode of an environment in this process, as a run does, and resolves with it. Never rejects for a fault:
 * the episode is then `failed`. Rejects as `runEpisode` and `createHost` do if there is nothing to play.
 */
export async function playEpisode(
  environment: EnvironmentDefinition,
  { policy, prompt = environment.description, hints = [], seed = 'test', params, limits }: EpisodePlay,
): Promise<Episode> {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  return await runEpisode({
    createEnvironment: () => connection.environment(),
    policy,
    task: { prompt, hints, params, seed, limits },
  })
}
