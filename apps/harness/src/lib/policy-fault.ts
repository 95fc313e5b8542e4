import type { Player, Policy } from '@episodic/env'
import { actionSchema } from '@episodic/protocol'
import { HarnessError } from './harness-error.ts'
import { ownFrames } from './own-frames.ts'

/**
 * The same policy, whose players throw HarnessError `policy-failed` where the policy throws, and where it answers with what
 * is no action: so its faults are distinguished from those of the world.
 *
 * @param label - what it was asked for by, such as `solver`.
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
        // To look at what is nested too deeply throws.
        return [answer, actionSchema.safeParse(answer)] as const
      })
      if (action.success) return action.data
      throw new HarnessError(
        'policy-failed',
        `The policy ${called} answered ${JSON.stringify(answer)?.slice(0, 200)}, and an action is { tool, arguments }.`,
      )
    }
  }
}

/**
 * What a policy or an agent threw, as `policy-failed`: its words, and below them the frames of its own code, each with
 * file, line and column.
 *
 * @param who - such as `The policy "solver"`.
 */
export function policyFault(who: string, cause: unknown): HarnessError {
  const words = cause instanceof Error ? wordsOf(cause) : String(cause)
  const frames = cause instanceof Error ? ownFrames(cause) : []
  return new HarnessError('policy-failed', [`${who} threw: ${words}`, ...frames].join('\n'), { cause })
}

function wordsOf({ name, message }: Error): string {
  return name === 'Error' ? message : `${name}: ${message}`
}
