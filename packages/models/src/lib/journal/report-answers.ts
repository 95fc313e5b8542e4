import type { ModelAnswer, Player, Policy } from '@episodic/env'
import { isAnswered } from '@episodic/report/fold/completions'
import { wrapPolicy } from '@episodic/run/base/wrap-policy'
import { isKept } from './model-journal.ts'

/** Receives an answer of a policy's language model. `isKept`: it is from a journal, and says nothing of the model. */
export type OnAnswer = (policy: string, answer: ModelAnswer, isKept: boolean) => void

/** Returns a policy that reports each answer of its language model, before the answer is used. */
export function reportAnswers(policy: Policy, onAnswer: OnAnswer): Policy {
  const reported =
    (player: Player): Player =>
    (observation, view) =>
      player(observation, {
        ...view,
        onCompletion(answer) {
          if (isAnswered(answer)) onAnswer(policy.name, answer, isKept(answer))
          view.onCompletion?.(answer)
        },
      })
  return wrapPolicy(policy, async (begin) => reported(await begin()))
}
