import type { TaskEnvironment, TasksDefinition } from '@episodic/dataset'
import { definePolicy, type Policy } from '@episodic/env'
import type { LimitsRequest } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { z } from 'zod'

export interface GoldenPlayer {
  readonly policy: Policy
  /** Limits of this player's episodes, for example few steps for a truncated one. Default: those of the plays. */
  readonly limits?: LimitsRequest
}

export interface GoldenPlays<Params extends z.ZodType> {
  readonly environment: TaskEnvironment<Params>
  readonly players: Readonly<Record<string, GoldenPlayer>>
  /** Returns the parameters of a round. In each round every player plays once, in order. Rounds count from 0. */
  readonly params: (round: number) => z.input<Params>
  readonly limits: LimitsRequest
}

/** The exports of a module for `episodic run … --policy golden` and `describeGolden`. */
export interface Golden<Params extends z.ZodType> {
  readonly tasks: TasksDefinition<Params>
  /** Plays each task with the player of its prompt. Throws `dataset-invalid` for an unknown prompt. */
  readonly policies: { readonly golden: Policy }
}

/** Defines golden episodes: tasks, each with the player that its prompt names. */
export function defineGolden<Params extends z.ZodType>(plays: GoldenPlays<Params>): Golden<Params> {
  const { environment, players, params, limits } = plays
  const byPrompt = new Map(Object.entries(players))
  const prompts = [...byPrompt.keys()]
  const tasks: TasksDefinition<Params> = {
    name: `${environment.name}-golden`,
    environment,
    generate({ index }) {
      const prompt = prompts[index % prompts.length] as string
      return {
        prompt,
        params: params(Math.floor(index / prompts.length)),
        limits: { ...limits, ...byPrompt.get(prompt)?.limits },
        difficulty: 0,
      }
    },
  }
  const golden = definePolicy({
    name: 'golden',
    start(context) {
      const { prompt } = context.task
      const player = byPrompt.get(prompt)
      if (player) return player.policy.start(context)
      throw new HarnessError(
        'dataset-invalid',
        `There is no golden player for “${prompt}”. The prompts are: ${prompts.join(', ')}`,
      )
    },
  })
  return { tasks, policies: { golden } }
}
