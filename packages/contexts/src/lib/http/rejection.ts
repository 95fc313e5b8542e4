import { WireError } from '@episodic/protocol'
import { randomText } from '@episodic/protocol/extend'
import type { ClientFrame, ServerFrame } from './frames.ts'

/** Something that failed in a way that nobody foresaw, with the reference that the client was given. */
export interface UnforeseenError {
  readonly reference: string
  readonly cause: unknown
}

/** What a client is told in place of an answer. What is no `WireError` is our own mistake: `report` hears of it. */
export function refusalOf(
  error: unknown,
  frame: ClientFrame | null,
  report: (error: UnforeseenError) => void,
): ServerFrame {
  const of = {
    ...(frame && 'seq' in frame && { seq: frame.seq }),
    ...(frame?.type === 'publish' && { id: frame.id }),
  }
  if (!WireError.is(error)) {
    const reference = randomText()
    report({ reference, cause: error })
    return { type: 'error', code: 'internal', message: `The server failed. Reference: ${reference}.`, ...of }
  }
  const { expected, retryAfterSeconds } = error.details
  const isAhead = error.code === 'state-lost' && typeof expected === 'number'
  return {
    type: 'error',
    // Who counted wrong can go on, and so can whoever counted right: what was lost can be said again.
    code: isAhead ? 'seq-conflict' : error.code,
    message: isAhead ? ahead(of.seq, expected) : toldOf(error),
    ...of,
    ...(typeof expected === 'number' && { expected }),
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
  }
}

function ahead(seq: number | undefined, expected: number): string {
  return `Message ${seq} is not the next one: ${expected} are answered. Send it with seq ${expected}. If you counted right, the server has lost what came in between: say that again first.`
}

/** What a player may be told of a refusal: not how an episode ended, which is told to whoever trains. */
function toldOf({ code, message, details }: WireError): string {
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
