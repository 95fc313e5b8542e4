import { defineTasks, type TaskEnvironment, type TasksDefinition } from '@episodic/dataset'
import { definePolicy, type Policy } from '@episodic/env'
import type { LimitsRequest } from '@episodic/protocol'
import type { z } from 'zod'
import { HarnessError } from './harness-error.ts'

/** Somebody who plays golden episodes. */
export interface GoldenPlayer {
  readonly policy: Policy
  /** In the place of the plays' own, such as few steps for an episode that is to be cut off. */
  readonly limits?: LimitsRequest
}

/** What is played for the golden episodes of a world. */
export interface GoldenPlays<Params extends z.ZodType> {
  readonly environment: TaskEnvironment<Params>
  /** Who plays, by the prompt of their tasks. */
  readonly players: Readonly<Record<string, GoldenPlayer>>
  /** The world that a round is played in. Every player plays once a round, in their order; rounds count from 0. */
  readonly params: (round: number) => z.input<Params>
  readonly limits: LimitsRequest
}

/** What a module gives to record golden episodes with `episodic run … --policy golden`, and to `describeGolden`. */
export interface Golden<Params extends z.ZodType> {
  readonly tasks: TasksDefinition<Params>
  /** Plays each task as the player of its prompt does. Throws `dataset-invalid` for the prompt of no player. */
  readonly policies: { readonly golden: Policy }
}

/** Describes the plays that are kept as golden episodes: tasks, each with the player that its prompt names. */
export function defineGolden<Params extends z.ZodType>({
  environment,
  players,
  params,
  limits,
}: GoldenPlays<Params>): Golden<Params> {
  const byPrompt = new Map(Object.entries(players))
  const prompts = [...byPrompt.keys()]
  const tasks = defineTasks({
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
  })
  const golden = definePolicy({
    name: 'golden',
    start(context) {
      const { prompt } = context.task
      const player = byPrompt.get(prompt)
      if (player) return player.policy.start(context)
      throw new HarnessError('dataset-invalid', `No golden player plays “${prompt}”. They play: ${prompts.join(', ')}`)
    },
  })
  return { tasks, policies: { golden } }
}
