import { connect, type Environment, type Episode, type Policy, runEpisode } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess } from '@episodic/mcp-server'
import type { JsonObject, LimitsRequest } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { z } from 'zod'

export interface EpisodePlay<World extends EnvironmentDefinition = EnvironmentDefinition> {
  readonly policy: Policy
  /** What the player is asked to do. Default: the description of the environment. */
  readonly prompt?: string
  /** Default: none. */
  readonly hints?: readonly string[]
  /** Default: those of the environment. */
  readonly params?: InputOrJson<World['params']>
  /** Decides what the world draws. Default `test`. */
  readonly seed?: string
  /** Default: those of the environment. */
  readonly limits?: LimitsRequest
}

type InputOrJson<Schema extends z.ZodType> = unknown extends z.input<Schema> ? JsonObject : z.input<Schema>
type OutputOrJson<Schema extends z.ZodType> = unknown extends z.output<Schema> ? JsonObject : z.output<Schema>

export interface LeftState<World extends EnvironmentDefinition = EnvironmentDefinition> {
  readonly public: OutputOrJson<World['state']['public']>
  readonly private: OutputOrJson<World['state']['private']>
}

export type PlayedEpisode<World extends EnvironmentDefinition = EnvironmentDefinition> = Episode & {
  readonly environment: World
  /** What the episode left; `null` if it did not start, or if the world keeps its state outside. */
  readonly state: LeftState<World> | null
}

/**
 * Plays one episode of an environment in this process, as a run does, and resolves with it. Never rejects for a fault
 * of the player: the episode is then `failed`. Rejects with `not-recorded` if a recorded model has no answer, and as
 * `runEpisode` and `createHost` do if there is nothing to play.
 */
export async function playEpisode<World extends EnvironmentDefinition>(
  environment: World,
  { policy, prompt = environment.description, hints = [], seed = 'test', params, limits }: EpisodePlay<World>,
): Promise<PlayedEpisode<World>> {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  let state: LeftState<World> | null = null
  const createEnvironment = (): Environment => {
    const played = connection.environment()
    const end = played.close.bind(played)
    return Object.assign(played, {
      async close() {
        // A session that has not started has no state.
        const snapshot = played.info.forkable ? await played.snapshot().catch(() => null) : null
        if (snapshot) state = { public: snapshot.state.public, private: snapshot.state.private } as LeftState<World>
        await end()
      },
    })
  }
  const episode = await runEpisode({
    createEnvironment,
    policy,
    task: { prompt, hints, params: params as JsonObject | undefined, seed, limits },
  })
  assertRecorded(episode)
  return { ...episode, environment, state }
}

/** Throws `not-recorded` for an episode whose recorded model had no answer: it says nothing about the model. */
export function assertRecorded(episode: Episode): void {
  if (episode.kind === 'failed' && HarnessError.is(episode.cause, 'not-recorded')) throw episode.cause
}
