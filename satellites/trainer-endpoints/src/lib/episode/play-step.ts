import type { TrainerSessionRef } from '@episodic/mcp-server'
import { type Action, type LoggedStep, WireError } from '@episodic/protocol'
import { pause } from '@episodic/protocol/internal'

/** Milliseconds before each further attempt of a step that the store did not answer. */
const ATTEMPTS = [50, 200, 1_000]

/**
 * Plays an action as the step after `seq` answered ones, and repeats it while the store does not answer. Rejects with
 * the errors of `SessionRef.step`, and with `internal` if the answer has a secret of the session in it.
 */
export async function playStep(session: TrainerSessionRef, action: Action, seq: number): Promise<LoggedStep> {
  const { step, secrets } = await attempt(session, action, seq)
  const said = JSON.stringify([step.observation.text, step.observation.structured])
  if (secrets.suspects(said))
    secrets.assertAbsent({ text: said, worldText: () => said, callerText: () => JSON.stringify(action) })
  return step
}

export function rewardOf({ report }: LoggedStep): number {
  return Object.values(report.terms).reduce((sum, term) => sum + term, 0)
}

async function attempt(session: TrainerSessionRef, action: Action, seq: number) {
  for (const wait of ATTEMPTS)
    try {
      return await session.step({ action, seq })
    } catch (error) {
      if (!WireError.is(error, 'store-unavailable')) throw error
      await pause(wait)
    }
  return session.step({ action, seq })
}
