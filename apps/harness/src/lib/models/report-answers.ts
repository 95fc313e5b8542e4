import type { Player, Policy } from '@episodic/env'
import { isKept } from './model-journal.ts'

/**
 * Returns a policy that calls `onAnswer` with its name at each answer of its language model, before the answer is used.
 * Those from a journal do not count.
 */
export function reportAnswers(policy: Policy, onAnswer: (policy: string) => void): Policy {
  const { name, resume } = policy
  const reported =
    (player: Player): Player =>
    (observation, view) =>
      player(observation, {
        ...view,
        onCompletion(answer) {
          if (!isKept(answer)) onAnswer(name)
          view.onCompletion?.(answer)
        },
      })
  return {
    name,
    start: async (context) => reported(await policy.start(context)),
    ...(resume && { resume: async (context, earlier) => reported(await resume.call(policy, context, earlier)) }),
  }
}
