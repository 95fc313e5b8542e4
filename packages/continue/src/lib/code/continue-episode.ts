import { connect, type Episode, runEpisode } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess } from '@episodic/mcp-server'
import { type Continuation, continuationOf } from './continuation.ts'

export interface ContinueOptions extends Continuation {
  readonly environment: EnvironmentDefinition
  /** Default 1. */
  readonly count?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Continues a sealed episode from one of its steps, `count` times at once, and resolves with the episodes, of which
 * each has only the steps that were played anew. The steps before are played by the rules alone: no player is asked,
 * and no model paid, for them. An episode that fails is returned as `failed`.
 *
 * Rejects with `run-invalid` for a line that was changed since it was sealed, with `option-invalid` for a step that
 * there is not and for a change that the environment cannot take, with `replay-diverged`, naming the step, if the rules
 * play one of the steps before otherwise, and with `not-forkable` for a world whose state is kept outside.
 */
export async function continueEpisode(options: ContinueOptions): Promise<Episode[]> {
  const { environment, count = 1, signal } = options
  const playOf = continuationOf(environment, options)
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const createEnvironment = () => connection.environment()
  return await Promise.all(
    Array.from({ length: count }, (_, number) => runEpisode({ ...playOf(number), createEnvironment, signal })),
  )
}
