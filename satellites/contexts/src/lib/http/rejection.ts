import { toInternalError } from '@episodic/mcp-server/internal'
import { WireError } from '@episodic/protocol'
import type { ClientFrame, ServerFrame } from './frames.ts'

export interface InternalError {
  readonly reference: string
  readonly cause: unknown
}

/** Returns the frame for an error. One that is no `WireError` is reported, and the client gets a reference. */
export function rejectionOf(
  error: unknown,
  frame: ClientFrame | null,
  report: (error: InternalError) => void,
): ServerFrame {
  const ids = { ...(frame && 'seq' in frame && { seq: frame.seq }), ...(frame?.type === 'publish' && { id: frame.id }) }
  const known = WireError.is(error) ? error : toInternalError(error, report)
  const { expected, retryAfterSeconds } = known.details
  const isAhead = known.code === 'state-lost' && typeof expected === 'number'
  return {
    type: 'error',
    // The client can continue in either case: with the right `seq`, or by sending again what was lost.
    code: isAhead ? 'seq-conflict' : known.code,
    message: isAhead
      ? `Message ${ids.seq} is not the next one: ${expected} are answered. Send it with seq ${expected}. If you counted right, the server has lost what came in between: say that again first.`
      : messageOf(known),
    ...ids,
    ...(typeof expected === 'number' && { expected }),
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
  }
}

/** The message for a user: it does not say how an episode ended, which only a trainer may know. */
function messageOf({ code, message, details }: WireError): string {
  switch (code) {
    case 'episode-ended':
      return 'This conversation is over, and takes nothing more. Join another.'
    case 'session-not-found':
      return 'There is no such conversation, or none any more. Join another.'
    case 'state-lost':
      return 'The server has lost part of this conversation, and it cannot go on. Join another.'
    case 'environment-failed':
      return `The conversation failed, and this changed nothing. Reference: ${details.reference}.`
    default:
      return message
  }
}
