import type { ModelAnswer, Player, Policy } from '@episodic/env'
import { wrapPolicy } from '@episodic/run/base/wrap-policy'
import type { PlayListener } from '@episodic/run/folder/record/live-file'

export function watchPlay(policy: Policy, { onBegin, onStep, onCall, onTokens }: PlayListener): Policy {
  const watched = (player: Player): Player => {
    let asked: Parameters<Player>[1] | null = null
    const onCompletion = (answer: ModelAnswer) => {
      onTokens(answer.promptTokens + answer.completionTokens)
      asked?.onCompletion?.(answer)
    }
    return (observation, view) => {
      asked = view
      if (view.last) onStep(observation.text)
      else onBegin(observation.text)
      const action = player(observation, { ...view, onCompletion })
      if (!(action instanceof Promise)) {
        onCall(action)
        return action
      }
      return action.then((decided) => {
        onCall(decided)
        return decided
      })
    }
  }
  return wrapPolicy(policy, async (begin) => watched(await begin()))
}
