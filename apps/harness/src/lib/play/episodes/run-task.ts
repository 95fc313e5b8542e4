import type { BranchPoint, Environment, Policy } from '@episodic/env'
import type { SealedRecord } from '@episodic/protocol'
import { reportAnswers } from '../../models/report-answers.ts'
import type { PlannedEpisode } from '../../run-folder/plan/planned-episode.ts'
import { isLlm } from '../../worlds/policies.ts'
import { type Sealing, sealEpisode } from '../record/seal-episode.ts'
import { runRollout } from './run-rollout.ts'
import { type PlayListener, watchPlay } from './watch-play.ts'

/** The run that an episode is a part of. */
export interface RunContext {
  /** The name of the run. */
  readonly run: string
  /** Aborts the episode. */
  readonly signal: AbortSignal
  /** Milliseconds since the run started. */
  now(): number
  /** Receives the name of a policy at each answer of its language model. */
  readonly onAnswer?: ((policy: string) => void) | undefined
  /** Receives what happens in the episode, if it is played in this process by policies. */
  readonly listener?: PlayListener | undefined
}

/**
 * Plays one rollout of a task and resolves with its records, one for each episode of a tree. Resolves with none if it
 * was interrupted, so that a resumed run plays it again. An error that it throws stops the run.
 */
export type RunTask = (planned: PlannedEpisode, context: RunContext) => Promise<readonly SealedRecord[]>

export interface RunTaskOptions {
  readonly createEnvironment: () => Environment
  readonly policy: Policy
  /** The version of the policy's weights. Default: not known. */
  readonly version?: string | undefined
  readonly seed: string
  readonly discount: number
  /** Plays a tree of episodes for each rollout, forked at these points. Default: none. */
  readonly branch?: readonly BranchPoint[]
  /** What records keep of an action. Default: all of it. */
  readonly accept?: Sealing['accept']
  /** How the answers of a language model are kept. Default: all, without secrets. */
  readonly recording?: Sealing['recording']
}

/** Plays in this process, with a policy. */
export function createRunTask(options: RunTaskOptions): RunTask {
  const { createEnvironment, policy, version, seed, discount, branch = [], accept, recording } = options
  return async (planned, { run, signal, now, onAnswer, listener }) => {
    const started = now()
    const reported = onAnswer && isLlm(policy.name) ? reportAnswers(policy, onAnswer) : policy
    const player = listener ? watchPlay(reported, listener) : reported
    const played = await runRollout(planned, { createEnvironment, policy: player, seed, branch, signal, now })
    if (signal.aborted && played.some(({ episode }) => episode.kind === 'failed')) return []
    return played.map(({ attempt, episode, policySeed, branch, ended }) =>
      sealEpisode(
        episode,
        { ...planned, attempt },
        {
          run,
          policy: { name: policy.name, seed: policySeed, ...(version !== undefined && { version }) },
          discount,
          branch,
          time: { started, ended },
          ...(accept && { accept }),
          ...(recording && { recording }),
        },
      ),
    )
  }
}
