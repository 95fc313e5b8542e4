import type { TrainerSessionRef } from '@episodic/mcp-server'
import type { LoggedStep } from '@episodic/protocol'

/** Entries of one read. */
const PAGE = 1_000

/** Yields the answered steps of a session, oldest first. */
export async function* readSteps(session: TrainerSessionRef): AsyncGenerator<LoggedStep, void, undefined> {
  for (let after = 0; ; ) {
    const { steps } = await session.watch({ after, limit: PAGE, wait: 0 })
    yield* steps
    const last = steps.at(-1)
    if (!last || steps.length < PAGE) return
    after = last.report.revision
  }
}
