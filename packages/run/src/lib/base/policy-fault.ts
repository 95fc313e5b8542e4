import { type Player, PlayerStop, type Policy } from '@episodic/env'
import { ownFrames } from '@episodic/mcp-server/internal'
import { type Action, actionSchema, type Json, type JsonObject } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import { HarnessError } from './harness-error.ts'
import { wrapPolicy } from './wrap-policy.ts'

/**
 * Wraps a policy: its players throw HarnessError `policy-failed` if the policy throws or returns something other than
 * an action, so that its faults are distinct from those of the world. A player that stops on purpose, with
 * `PlayerStop`, does so.
 *
 * @param label - the name that the user gave, for example `solver`.
 */
export function checkedPolicy(policy: Policy, label = policy.name): Policy {
  const { name } = policy
  const called = name === label ? `"${name}"` : `"${label}" (${name})`
  const faultOf = (cause: unknown): Error =>
    HarnessError.is(cause) || PlayerStop.is(cause) ? cause : policyFault(`The policy ${called}`, cause)
  return wrapPolicy(policy, async (begin) => {
    try {
      return checkedPlayer(await begin())
    } catch (cause) {
      throw faultOf(cause)
    }
  })

  // Most policies answer at once, and a promise for each of their steps would cost more than they do.
  function checkedPlayer(player: Player): Player {
    return (observation, view) => {
      try {
        const answer = player(observation, view)
        if (!isPromise(answer)) return checkedAction(answer)
        return answer.then(checkedAction).catch((cause) => Promise.reject(faultOf(cause)))
      } catch (cause) {
        return Promise.reject(faultOf(cause))
      }
    }
  }

  function checkedAction(answer: unknown): Action {
    const plain = copyAction(answer)
    if (plain) return plain
    // Parsing throws if the value is nested too deeply.
    const action = actionSchema.safeParse(answer)
    if (action.success) return action.data
    throw new HarnessError(
      'policy-failed',
      `The policy ${called} returned ${shorten(JSON.stringify(answer) ?? String(answer), 200)}, which is not an action. Return { tool, arguments }.`,
    )
  }
}

function isPromise(answer: unknown): answer is Promise<unknown> {
  return typeof (answer as { then?: unknown } | null | undefined)?.then === 'function'
}

/** Returns a copy, which the policy cannot change later, of an action of plain JSON; `null` for anything else. */
function copyAction(answer: unknown): Action | null {
  if (!isPlain(answer) || typeof answer.tool !== 'string' || !isPlain(answer.arguments)) return null
  const copy = copyJson(answer.arguments)
  return copy === undefined ? null : { tool: answer.tool, arguments: copy as JsonObject }
}

function copyJson(value: unknown): Json | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (Array.isArray(value)) {
    const items = value.map(copyJson)
    return items.includes(undefined) ? undefined : (items as Json[])
  }
  if (!isPlain(value)) return undefined
  const copy: Record<string, Json> = {}
  for (const key of Object.keys(value)) {
    const item = key === '__proto__' ? undefined : copyJson(value[key])
    if (item === undefined) return undefined
    copy[key] = item
  }
  return copy
}

function isPlain(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/**
 * Returns the error of a policy or an agent as `policy-failed`: its message, followed by the frames of its own code
 * with file, line and column.
 *
 * @param who - for example `The policy "solver"`.
 */
export function policyFault(who: string, cause: unknown): HarnessError {
  const words = cause instanceof Error ? wordsOf(cause) : String(cause)
  const frames = cause instanceof Error ? ownFrames(cause) : []
  return new HarnessError('policy-failed', [`${who} threw: ${words}`, ...frames], { cause })
}

function wordsOf({ name, message }: Error): string {
  return name === 'Error' ? message : `${name}: ${message}`
}
