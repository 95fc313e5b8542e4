import type { TrainerSessionRef } from '@episodic/mcp-server'
import { WireError } from '@episodic/protocol'

/** Errors of a world that judges what was left. The session is closed all the same, and the host reports it. */
const JUDGED_BADLY = ['environment-failed', 'state-lost', 'not-recorded', 'outcome-unknown', 'too-large'] as const

/**
 * Closes a session, and has its world judge what was left if something was played. No answer of these protocols could
 * have the reward; the host says it (`onLeft`). Does nothing if the session is gone already.
 */
export async function leaveSession(session: TrainerSessionRef): Promise<void> {
  try {
    await session.close('if-played')
  } catch (error) {
    const isOver = ['session-not-found' as const, ...JUDGED_BADLY].some((code) => WireError.is(error, code))
    if (!isOver) throw error
  }
}
