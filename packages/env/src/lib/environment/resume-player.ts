import type { Step } from '@episodic/protocol'
import type { EarlierStep, Player, Policy, PolicyContext } from '../policy/policy.ts'
import type { ResetResult } from './environment.ts'
import type { PlayedStep } from './episode.ts'

/** Creates a player that takes over an episode after `steps`, see `Policy.resume`. */
export async function resumePlayer(
  policy: Policy,
  context: PolicyContext,
  start: ResetResult,
  steps: readonly PlayedStep[],
  signal: AbortSignal | undefined,
): Promise<Player> {
  const earlier = steps.map(({ action, completions, milliseconds: _, ...step }, i): EarlierStep => {
    const { observation } = steps[i - 1] ?? start
    return { observation, action, step, answers: completions }
  })
  if (policy.resume) return policy.resume(context, earlier)
  const player = await policy.start(context)
  let last: Step | null = null
  for (const { observation, step } of earlier) {
    signal?.throwIfAborted()
    await player(observation, { last, signal })
    last = step
  }
  return player
}
