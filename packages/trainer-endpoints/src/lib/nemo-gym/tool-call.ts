import { type Action, WireError } from '@episodic/protocol'
import { failureOf } from './failure-kind.ts'
import { judgeCall } from './repeated-call.ts'
import type { RolloutSession } from './rollout-session.ts'
import { errorAnswer, stepAnswer, type ToolAnswer } from './tool-answer.ts'

/** Error codes of a call that was not played and leaves the episode as it was. */
const HARMLESS: Readonly<Record<string, 409 | 422>> = { 'episode-ended': 409, 'invalid-params': 422 }

/** A call of a tool, and what its request says of its client. */
export interface ToolCall {
  readonly action: Action
  /** Steps that the client had been answered when it sent the call, by its cookie. */
  readonly sent: number
  readonly userAgent: string
}

/** The HTTP client of NeMo Gym's own agents, which return each cookie. */
const OWN_CLIENT = /\baiohttp\//

/**
 * Plays a tool call, or returns the stored answer if it is a repeated one. A call that fails marks the episode as failed, and no further one is played.
 */
export async function answerToolCall(session: RolloutSession, call: ToolCall): Promise<ToolAnswer> {
  const { action, sent, userAgent } = call
  const { tally } = session
  session.returnsCookies ||= sent > 0
  session.closesConnections ??= session.delivery?.() === 'cut'
  const { repeated, doubtful } = judgeCall({
    sent,
    played: tally.played,
    sameAsLast: sent !== tally.played && session.isLast(action),
    ended: tally.end !== null,
    returnsCookies: session.returnsCookies,
    likelyReturnsCookies: OWN_CLIENT.test(userAgent),
    delivery: session.delivery?.() ?? null,
    closesConnections: session.closesConnections,
  })
  session.doubtful ||= doubtful
  if (repeated && tally.last) return stepAnswer(tally.last)
  if (session.failure) return errorAnswer(409, `The episode has failed: ${session.failure.reason}`)
  if (tally.end) return errorAnswer(409, 'The episode is over, so this call was not played.')
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
