import { type Action, WireError } from '@episodic/protocol'
import { failureOf } from './failure-kind.ts'
import { classifyCall } from './repeated-call.ts'
import type { RolloutSession } from './rollout-session.ts'
import { errorAnswer, stepAnswer, type ToolAnswer } from './tool-answer.ts'

/** Error codes of a call that was not played and leaves the episode as it was. */
const HARMLESS: Readonly<Record<string, 409 | 422>> = { 'episode-ended': 409, 'invalid-params': 422 }

export interface ToolCall {
  readonly action: Action
  readonly sent: number
  /** Whether its client is of a kind that returns cookies, which its first call cannot show yet. */
  readonly likelyReturnsCookies: boolean
}

/**
 * Plays a tool call, or returns the stored answer if it is a repeated one. A call that fails marks the episode as
 * failed, and no further one is played.
 */
export async function answerToolCall(session: RolloutSession, call: ToolCall): Promise<ToolAnswer> {
  const { action, sent, likelyReturnsCookies } = call
  const { tally } = session
  session.returnsCookies ||= sent > 0
  session.closesConnections ??= session.delivery?.() === 'cut'
  if (sent > tally.played)
    session.failure ??= failureOf(new WireError('state-lost', 'The store lost steps of this session.'))
  const { kind, doubtful } = classifyCall({
    sent,
    played: tally.played,
    sameAsLast: sent !== tally.played && session.isLast(action),
    ended: tally.end !== null,
    returnsCookies: session.returnsCookies,
    likelyReturnsCookies,
    delivery: session.delivery?.() ?? null,
    closesConnections: session.closesConnections,
  })
  session.doubtful ||= doubtful
  if (kind === 'repeated' && tally.last) return stepAnswer(tally.last)
  if (session.failure) return errorAnswer(409, `The episode has failed: ${session.failure.reason}`)
  if (tally.end) return errorAnswer(409, 'The episode is over, so this call was not played.')
  if (kind === 'late')
    return errorAnswer(
      409,
      'This call came after the answer to a later one, so it was not played. Send calls one by one.',
    )
  try {
    return stepAnswer(await session.play(action))
  } catch (error) {
    const harmless = WireError.is(error) ? HARMLESS[error.code] : undefined
    if (harmless) return errorAnswer(harmless, (error as WireError).message)
    session.failure = failureOf(error)
    if (!WireError.is(error)) throw error
    return errorAnswer(500, `The episode has failed: ${session.failure.reason}`)
  }
}
