import type { Delivery } from './answer-delivery.ts'

/** What distinguishes a repeated call from a new one. */
export interface CallEvidence {
  /** Steps that the client had been answered when it sent this call, by its cookie. */
  readonly sent: number
  /** Steps that have been played. */
  readonly played: number
  /** Whether this call has the tool and the arguments of the step that was played last. */
  readonly sameAsLast: boolean
  /** Whether the episode has ended, so that no call is a new step. */
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
  readonly repeated: boolean
  /** Whether only the trajectory can tell: the reward is valid if that has each step once. */
  readonly doubtful: boolean
}

const NEW: CallVerdict = { repeated: false, doubtful: false }
const REPEATED: CallVerdict = { repeated: true, doubtful: false }

/**
 * Decides whether a call is one whose answer was lost, or a new one.
 *
 * NeMo Gym's client repeats a request until it is answered, and nothing in it names the call. Each answer sets the
 * cookie anew, with the number of steps played, so a client that returns cookies says which answers it has. For other
 * clients, the connection of the last answer is the evidence that is left; behind a proxy it is none.
 */
export function judgeCall(evidence: CallEvidence): CallVerdict {
  const { sent, played, sameAsLast, ended, returnsCookies, likelyReturnsCookies, delivery, closesConnections } =
    evidence
  if (sent === played || !sameAsLast) return NEW
  if (ended) return REPEATED
  if (returnsCookies && sent === played - 1) return REPEATED
  if (likelyReturnsCookies && played === 1) return { repeated: true, doubtful: delivery !== 'lost' }
  switch (delivery) {
    case 'lost':
      return REPEATED
    case 'read':
    case 'waiting':
      return NEW
    case 'cut':
      return { repeated: !closesConnections, doubtful: true }
    case null:
      return { repeated: true, doubtful: true }
  }
}
