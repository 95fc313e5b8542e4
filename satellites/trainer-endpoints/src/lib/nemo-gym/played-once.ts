import type { LoggedStep } from '@episodic/protocol'
import type { FunctionCall } from './function-calls.ts'
import { isSameCall, type Tools } from './same-call.ts'
import { stepAnswer } from './tool-answer.ts'

export interface TrajectoryQuestion {
  readonly calls: readonly FunctionCall[]
  readonly incomplete: boolean
  readonly steps: readonly LoggedStep[]
  readonly tools: Tools
  readonly ended: boolean
  /** Whether messages may have been lost or repeated: then the outputs that the model was shown are compared too. */
  readonly doubtful: boolean
}

/**
 * Returns whether the calls of a trajectory are the steps that were played: each call once, in order. These are not
 * played: calls after the end of an episode, those whose arguments cannot be played, those of a model that was cut off,
 * and, as agents differ in whether they send them, those without arguments or of a tool that does not exist.
 */
export function isPlayedOnce(question: TrajectoryQuestion): boolean {
  const { calls, incomplete, steps, tools, ended, doubtful } = question
  let next = 0
  for (const { tool, arguments: args, isEmpty, output } of calls) {
    if (args === null) continue
    const step = steps[next]
    const isShown = !doubtful || output === null || (step && output === stepAnswer(step).text)
    const isPlayed = step && isShown && isSameCall({ tool, arguments: args }, step, tools)
    if (isPlayed) {
      next += 1
      continue
    }
    const isAfterEnd = ended && next === steps.length
    const isUnsent = isEmpty || (incomplete && output === null)
    const isUnknown = !doubtful && !tools.some(({ name }) => name === tool)
    if (!isAfterEnd && !isUnsent && !isUnknown) return false
  }
  return next === steps.length
}
