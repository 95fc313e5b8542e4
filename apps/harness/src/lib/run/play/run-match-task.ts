import { type Game, type OutsidePlayer, type Policy, runMatch } from '@episodic/env'
import { type Action, seedFor } from '@episodic/protocol'
import { reportAnswers } from '../../llm/report-answers.ts'
import { isLlm } from '../../policies.ts'
import { isPolicy } from '../../world.ts'
import { policySeedOf } from '../plan/plan.ts'
import type { Recording } from '../record/recording.ts'
import { sealMatch } from '../record/seal-match.ts'
import type { RunTask } from './run-task.ts'

export interface RunMatchTaskOptions {
  readonly createGame: () => Game
  /** The policy of each seat, or the agent that plays it. */
  readonly policies: { readonly [seat: string]: Policy | OutsidePlayer }
  /** The seed of the run. */
  readonly seed: string
  /** The most steps of a seat; `null` for the limits of the task. */
  readonly maxSteps: number | null
  readonly weights: { readonly [term: string]: number }
  readonly discount: number
  /** Returns what records keep of an action. */
  readonly accept: (action: Action) => Action
  /** How the answers of language models are kept. Default: all, without secrets. */
  readonly recording?: Recording
}

/** Plays an environment of several seats in this process, with a policy for each seat. */
export function createRunMatchTask(options: RunMatchTaskOptions): RunTask {
  const { createGame, policies, seed, maxSteps, weights, discount, accept, recording } = options
  return async (planned, { run, signal, now, onAnswer }) => {
    const started = now()
    const seated = Object.entries(policies).map(([seat, player]) => [
      seat,
      onAnswer && isPolicy(player) && isLlm(player.name) ? reportAnswers(player, onAnswer) : player,
    ])
    const { task } = planned
    const policySeed = policySeedOf(seed, planned)
    const steps = Math.min(task.limits.steps ?? Number.POSITIVE_INFINITY, maxSteps ?? Number.POSITIVE_INFINITY)
    const limits = Number.isFinite(steps) ? { ...task.limits, steps } : task.limits
    const match = await runMatch({
      createGame,
      policies: Object.fromEntries(seated),
      task: { ...task, limits },
      policySeed,
      signal,
    })
    if (signal.aborted && match.kind === 'failed') return []
    const named = Object.entries(policies).map(([seat, { name }]) => [seat, { name, seed: seedFor(policySeed, seat) }])
    const time = { started, ended: now() }
    const sealing = { run, policies: Object.fromEntries(named), weights, discount, accept, time }
    return [sealMatch(match, planned, { ...sealing, ...(recording && { recording }) })]
  }
}
