import { randomText, WireError } from '@episodic/protocol'
import type { ClientFrame, ServerFrame } from './http-conversation-frames.ts'

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
  return {
    type: 'error',
    code: error.code,
    message: toldOf(error),
    ...of,
    ...(typeof expected === 'number' && { expected }),
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
  }
}

/** What a player may be told of a refusal: not how an episode ended, which is told to whoever trains. */
function toldOf({ code, message, details }: WireError): string {
  switch (code) {
    case 'episode-ended':
      return 'This conversation is over, and takes nothing more. Join another.'
    case 'session-not-found':
      return 'There is no such conversation, or none any more. Join another.'
    case 'state-lost':
      return 'The server holds fewer messages of this conversation than that. If you counted right, some are lost: join another.'
    case 'environment-failed':
      return `The conversation failed, and this changed nothing. Reference: ${details.reference}.`
    default:
      return message
  }
}
