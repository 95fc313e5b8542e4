import { type Action, WireError } from '@episodic/protocol'
import type { Delivery } from './answer-delivery.ts'
import { failureOf } from './failure-kind.ts'
import type { RolloutSession } from './rollout-session.ts'
import { errorAnswer, stepAnswer, type ToolAnswer } from './tool-answer.ts'

/** Error codes of a call that was not played and leaves the episode as it was. */
const HARMLESS: Readonly<Record<string, 409 | 422>> = { 'episode-ended': 409, 'invalid-params': 422 }

const LATE = 'This call came after the answer to a later one, so it was not played. Send calls one by one.'

export interface ToolCall {
  readonly action: Action
  readonly sent: number
  /** Whether its client is of a kind that returns cookies, which its first call cannot show yet. */
  readonly likelyReturnsCookies: boolean
}

/** Plays a tool call, or returns a repeated one's answer. After a failed call the episode has failed. */
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
  if (kind === 'late') return errorAnswer(409, LATE)
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

export interface CallEvidence {
  readonly sent: number
  readonly played: number
  readonly sameAsLast: boolean
  readonly ended: boolean
  /** Whether this client has sent back a later cookie than the first, so that its cookies count. */
  readonly returnsCookies: boolean
  /** Whether it is a kind of client that returns cookies, which its first call cannot show yet. */
  readonly likelyReturnsCookies: boolean
  /** What became of the last answer; `null` if another process sent it. */
  readonly delivery: Delivery | null
  /** Whether this client closes its connection after each answer: it did after that to `seed_session`. */
  readonly closesConnections: boolean
}

export interface CallVerdict {
  /** The next step, one whose answer was lost, or one after its client had been answered another (`late`). */
  readonly kind: 'new' | 'repeated' | 'late'
  /** Whether only the trajectory can tell: the reward is valid if that has each step once. */
  readonly doubtful: boolean
}

/**
 * Decides whether a call is one whose answer was lost, or a new one.
 *
 * NeMo Gym's client repeats a request until it is answered, and nothing in it names the call. Each answer sets the
 * cookie anew, with the number of steps played, so a client that returns cookies says which answers it has, and a call
 * of it with an earlier cookie is never a new step. For other clients, the connection of the last answer is the
 * evidence that is left; behind a proxy it is none.
 */
export function classifyCall(evidence: CallEvidence): CallVerdict {
  const { sent, played, sameAsLast, ended, delivery, closesConnections } = evidence
  const returnsCookies = evidence.returnsCookies || sent > 0
  if (sent === played) return { kind: 'new', doubtful: false }
  if (sameAsLast && (ended || (returnsCookies && sent === played - 1))) return { kind: 'repeated', doubtful: false }
  if (returnsCookies) return { kind: 'late', doubtful: true }
  if (!sameAsLast) return { kind: 'new', doubtful: true }
  const repeated = { kind: 'repeated', doubtful: true } as const
  if (evidence.likelyReturnsCookies && played === 1) return repeated
  switch (delivery) {
    case 'lost':
    case null:
      return repeated
    case 'read':
    case 'waiting':
      return { kind: 'new', doubtful: true }
    case 'cut':
      return closesConnections ? { kind: 'new', doubtful: true } : repeated
  }
}
