import type { Player, Policy } from '@episodic/env'
import { actionSchema } from '@episodic/protocol'
import { HarnessError } from './harness-error.ts'
import { ownFrames } from './own-frames.ts'

/**
 * Wraps a policy: its players throw HarnessError `policy-failed` if the policy throws or returns something other than an
 * action, so that its faults are distinct from those of the world.
 *
 * @param label - the name that the user gave, for example `solver`.
 */
export function checkedPolicy(policy: Policy, label = policy.name): Policy {
  const { name, resume } = policy
  const called = name === label ? `"${name}"` : `"${label}" (${name})`
  const ask = async <T>(play: () => T | Promise<T>): Promise<T> => {
    try {
      return await play()
    } catch (cause) {
      if (HarnessError.is(cause)) throw cause
      throw policyFault(`The policy ${called}`, cause)
    }
  }
  return {
    name,
    start: async (context) => checkedPlayer(await ask(() => policy.start(context))),
    ...(resume && {
      resume: async (context, earlier) => checkedPlayer(await ask(() => resume.call(policy, context, earlier))),
    }),
  }

  function checkedPlayer(player: Player): Player {
    return async (observation, view) => {
      const [answer, action] = await ask(async () => {
        const answer: unknown = await player(observation, view)
        // Parsing throws if the value is nested too deeply.
        return [answer, actionSchema.safeParse(answer)] as const
      })
      if (action.success) return action.data
      throw new HarnessError(
        'policy-failed',
        `The policy ${called} returned ${JSON.stringify(answer)?.slice(0, 200)}, which is not an action. Return { tool, arguments }.`,
      )
    }
  }
}

/**
 * Returns the error of a policy or an agent as `policy-failed`: its message, followed by the frames of its own code with
 * file, line and column.
 *
 * @param who - for example `The policy "solver"`.
 */
export function policyFault(who: string, cause: unknown): HarnessError {
  const words = cause instanceof Error ? wordsOf(cause) : String(cause)
  const frames = cause instanceof Error ? ownFrames(cause) : []
  return new HarnessError('policy-failed', [`${who} threw: ${words}`, ...frames].join('\n'), { cause })
}

function wordsOf({ name, message }: Error): string {
  return name === 'Error' ? message : `${name}: ${message}`
}
