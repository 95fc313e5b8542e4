import type { JsonObject } from '@episodic/protocol'
import type { Secrets } from '../environment/secrets.ts'
import { renderText, type ToolResult } from '../environment/tool-result.ts'
import { addressOf, type Caller } from '../host/caller.ts'
import type { Host } from '../host/host.ts'

/** What a caller asked for. */
export interface Asked {
  readonly id?: unknown
  readonly method: string
  readonly params?: unknown
}

/** The answer to a request, and what the session keeps from its players whose step it answers. */
export interface Answer {
  readonly result: unknown
  /** `null` where no step was answered. */
  readonly secrets: Secrets | null
  /** What of it the world tells. Left out where that is the whole answer of a tool. */
  readonly told?: () => string
}

/**
 * Looks through what is about to leave an endpoint, and throws `internal` where a secret of the session is in it.
 *
 * At the agent endpoint that is every text, refusals too; what the world declares is searched for in what it tells, and the
 * session's own in all of it. At the trainer endpoint it is what a policy sees of a step; the
 * rest is for whoever trains. A step has been committed by then: its answer is lost to the player, and its retry finds
 * the same. A net under the rules, not a proof of them: a secret in another spelling, or in pieces, passes.
 */
export function scanAnswer(
  host: Host,
  caller: Caller,
  asked: Asked,
  text: string,
  answer: Answer | null,
): void | Promise<void> {
  const secrets = answer?.secrets
  if (caller.endpoint === 'trainer') {
    if (!secrets?.suspects(text)) return
    const told = toldIn(answer as Answer)
    secrets.assertAbsent({ text: told, worldText: () => told, callerText: () => actionIn(asked) })
    return
  }
  // Where it came to names the session too.
  const callerText = () => JSON.stringify([asked, caller.world])
  if (secrets) return secrets.assertAbsent({ text, worldText: () => toldIn(answer), callerText })
  const { world, principal } = caller
  const address = addressOf(world)
  const held = address === null ? null : host.secretsOf(principal, address)
  // Discovery and refusals are our own words: no world tells anything in them.
  const outgoing = { text, worldText: null, callerText }
  return held instanceof Promise ? held.then((found) => found?.assertAbsent(outgoing)) : held?.assertAbsent(outgoing)
}

/** What the world tells in an answer. */
export function toldIn({ result, told }: Answer): string {
  return told ? told() : renderText(result as ToolResult)
}

/** The part of a step that is the policy's own: its `_meta` is of whoever drives it. */
function actionIn({ params }: Asked): string {
  const { name, arguments: args } = params as JsonObject
  return JSON.stringify([name, args ?? null])
}
