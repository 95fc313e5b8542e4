import { type JsonObject, WireError } from '@episodic/protocol'
import type { Secrets } from '../environment/answer/secrets.ts'
import { renderText, type ToolResult } from '../environment/answer/tool-result.ts'
import type { AgentAddress, Caller } from '../host/access/caller.ts'
import type { SessionRef } from '../host/host.ts'

export interface McpRequest {
  readonly id?: unknown
  readonly method: string
  readonly params?: unknown
}

export interface ScannedAnswer {
  readonly result: unknown
  /** `null` if no step was answered. */
  readonly secrets: Secrets | null
  /** The part that the world said. Default: the whole answer of a tool. */
  readonly worldText?: () => string
}

/**
 * Searches a text that is about to leave an endpoint for secrets, and throws `internal` if it contains one.
 *
 * At the agent endpoint every text is searched, refusals too: for what the world declares, in what the world said, and
 * for the session's own secrets in all of it. At the trainer endpoint, only what a policy sees of a step is searched,
 * and the error is `environment-failed` and says why. The step is already committed, so its answer is withheld, and a
 * retry finds the same. A safeguard under the rules, not a proof: secrets that are encoded or split are not detected.
 */
export function scanAnswer(
  caller: Caller,
  session: SessionRef | null,
  asked: McpRequest,
  text: string,
  answer: ScannedAnswer | null,
): void {
  try {
    if (caller.endpoint === 'trainer') scanStep(asked, text, answer)
    else scanAll(caller.address, session, asked, text, answer)
  } catch (error) {
    if (!WireError.is(error)) throw error
    // Why it was withheld is for a trainer to read, and never for an agent.
    const { code, message, details, cause } = error
    throw caller.endpoint === 'trainer' && WireError.is(cause) ? cause : new WireError(code, message, { details })
  }
}

function scanStep(asked: McpRequest, text: string, answer: ScannedAnswer | null): void {
  if (!answer?.secrets?.suspects(withMedia(text, answer))) return
  const said = worldTextOf(answer)
  answer.secrets.assertAbsent({ text: said, worldText: () => said, callerText: () => actionIn(asked) })
}

function scanAll(
  address: AgentAddress,
  session: SessionRef | null,
  asked: McpRequest,
  text: string,
  answer: ScannedAnswer | null,
): void {
  // The address of the request names the session too.
  const callerText = () => JSON.stringify([asked, address])
  if (answer?.secrets)
    answer.secrets.assertAbsent({ text: withMedia(text, answer), worldText: () => worldTextOf(answer), callerText })
  // Discovery and refusals are the server's own words: the world says nothing in them.
  else session?.secrets?.assertAbsent({ text, worldText: null, callerText })
}

function withMedia(text: string, answer: ScannedAnswer): string {
  const { content } = (answer.result ?? {}) as Partial<ToolResult>
  return content !== undefined && content.length > 1 ? `${text}\n${worldTextOf(answer)}` : text
}

export function worldTextOf({ result, worldText }: ScannedAnswer): string {
  return worldText ? worldText() : renderText(result as ToolResult)
}

/** The part of a step that the policy sent: `_meta` comes from the trainer's client. */
function actionIn({ params }: McpRequest): string {
  const { name, arguments: args } = params as JsonObject
  return JSON.stringify([name, args ?? null])
}
