import type { ModelAnswer, Player, Policy } from '@episodic/env'
import { isKept } from './model-journal.ts'

/** Receives an answer of a policy's language model. `isKept`: it is from a journal, and says nothing of the model. */
export type OnAnswer = (policy: string, answer: ModelAnswer, isKept: boolean) => void

/** Returns a policy that reports each answer of its language model, before the answer is used. */
export function reportAnswers(policy: Policy, onAnswer: OnAnswer): Policy {
  const { name, resume } = policy
  const reported =
    (player: Player): Player =>
    (observation, view) =>
      player(observation, {
        ...view,
        onCompletion(answer) {
          onAnswer(name, answer, isKept(answer))
          view.onCompletion?.(answer)
        },
      })
  return {
    name,
    start: async (context) => reported(await policy.start(context)),
    ...(resume && { resume: async (context, earlier) => reported(await resume.call(policy, context, earlier)) }),
  }
}
