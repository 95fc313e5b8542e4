import { type Player, PlayerStop, type Policy } from '@episodic/env'
import { type Action, canonicalJson, type Json, seedFor } from '@episodic/protocol'
import { undeclaredIn } from '../targets/declared-answers.ts'
import type { Attempt, TargetTask } from '../targets/target.ts'

export interface PlayedAttempt extends Pick<Attempt, 'end'> {
  readonly actions: readonly Action[]
  /** What was read: a text for the start, for each step, and for the failure of the step after the last one. */
  readonly answers: readonly string[]
  readonly rewards: readonly number[]
  readonly refused: readonly number[]
  /** Whether any step had a reward: some servers give none. */
  readonly isPaid: boolean
  readonly success: boolean | null
  readonly failure: Error | null
  readonly undeclared: string | null
}

interface PlayOptions {
  /** Of the policy. Default: one that is the same for all tasks. */
  readonly seed?: string
  readonly most: number
  /** Awaited before each step. */
  readonly meanwhile?: (() => Promise<unknown>) | undefined
}

/**
 * Plays the only seat of an attempt until it ends or fails or its player stops, and closes it. Rejects if the player
 * throws.
 */
export async function playAttempt(
  attempt: Attempt,
  task: TargetTask,
  policy: Policy,
  { seed = 'check', most, meanwhile }: PlayOptions,
): Promise<PlayedAttempt> {
  await using playing = attempt
  const { observation: start, tools } = playing.view()
  const player: Player = await policy.start({ task, tools, seed: seedFor(seed, 'policy') })
  const [actions, rewards, refused, answers]: [Action[], number[], number[], string[]] = [[], [], [], [toText(start)]]
  let isPaid = false
  let failure: Error | null = null
  let undeclared: string | null = null
  while (playing.end === null && !failure && rewards.length < most) {
    const { observation, ...view } = playing.view()
    const action = await Promise.resolve(player(observation, view)).catch((error: unknown) => {
      if (!PlayerStop.is(error)) throw error
    })
    if (!action) break
    actions.push(action)
    await meanwhile?.()
    try {
      const { reward, refused: why, observation, end, terms } = await playing.step(action)
      isPaid ||= Object.keys(terms).length > 0
      rewards.push(reward)
      if (why) refused.push(reward)
      else undeclared ??= undeclaredIn(tools, action.tool, observation)
      answers.push(toText({ observation, why, end }))
    } catch (error) {
      failure = error as Error
      answers.push('failed')
    }
  }
  const { end } = playing
  return { actions, answers, rewards, refused, isPaid, failure, undeclared, end, success: playing.succeeds() }
}

function toText(answer: object): string {
  return canonicalJson(answer as Json)
}

export function totalOf({ rewards }: Pick<PlayedAttempt, 'rewards'>): number {
  return rewards.reduce((sum, reward) => sum + reward, 0)
}
