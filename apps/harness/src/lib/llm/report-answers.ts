import type { Player, Policy } from '@episodic/env'

/** Returns a policy that calls `onAnswer` with its name at each answer of its language model, before the answer is used. */
export function reportAnswers(policy: Policy, onAnswer: (policy: string) => void): Policy {
  const { name, resume } = policy
  const reported =
    (player: Player): Player =>
    (observation, view) =>
      player(observation, {
        ...view,
        onCompletion(answer) {
          onAnswer(name)
          view.onCompletion?.(answer)
        },
      })
  return {
    name,
    start: async (context) => reported(await policy.start(context)),
    ...(resume && { resume: async (context, earlier) => reported(await resume.call(policy, context, earlier)) }),
  }
}
