import type { SavedPlay } from '@episodic/continue/saved/play-saved'
import { connect, type Environment, type Episode, type Policy, runEpisode } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess } from '@episodic/mcp-server'
import type { JsonObject, LimitsRequest } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { expect } from 'vitest'
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
  /** What the player was asked to do. */
  readonly prompt: string
  /** What the episode left; `null` if it did not start, or if the world keeps its state outside. */
  readonly state: LeftState<World> | null
}

/**
 * Plays one episode of an environment in this process, as a run does, and resolves with it: a whole one, or with `from`
 * what follows a step of an earlier one. Never rejects for a fault of the player: the episode is then `failed`. Rejects
 * with `not-recorded` if a recorded model has no answer, with `replay-diverged` if the rules play the steps before
 * `from` otherwise than they were, and as `runEpisode` and `createHost` do if there is nothing to play.
 */
export async function playEpisode<World extends EnvironmentDefinition>(
  environment: World,
  given: EpisodePlay<World> | SavedPlay,
): Promise<PlayedEpisode<World>> {
  const play = 'from' in given ? await savedPlay(environment, given) : wholePlay(environment, given)
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
  const episode = await runEpisode({ ...play, createEnvironment })
  assertRecorded(episode)
  return { ...episode, environment, prompt: play.task?.prompt ?? '', state }
}

function wholePlay<World extends EnvironmentDefinition>(
  { description }: World,
  { policy, prompt = description, hints = [], seed = 'test', params, limits }: EpisodePlay<World>,
) {
  return { policy, task: { prompt, hints, params: params as JsonObject | undefined, seed, limits } }
}

async function savedPlay(environment: EnvironmentDefinition, given: SavedPlay) {
  const { playOfCase } = await import('@episodic/continue/saved/play-saved')
  // What `vitest -u` says to snapshots, which have no other way to learn of it either.
  const { _updateSnapshot } = expect.getState().snapshotState as unknown as { readonly _updateSnapshot: string }
  return playOfCase(environment, given, _updateSnapshot === 'all')
}

/** Throws `not-recorded` for an episode whose recorded model had no answer: it says nothing about the model. */
export function assertRecorded(episode: Episode): void {
  if (episode.kind === 'failed' && HarnessError.is(episode.cause, 'not-recorded')) throw episode.cause
}
