import type { TrainerSessionRef } from '@episodic/mcp-server'
import type { LoggedStep } from '@episodic/protocol'

/** Entries of the step log that are read at once. */
const PAGE = 1_000

/** Reads the answered steps of a session, oldest first. */
export async function readSteps(ref: TrainerSessionRef): Promise<LoggedStep[]> {
  const read: LoggedStep[] = []
  for (;;) {
    const after = read.at(-1)?.report.revision ?? 0
    const { steps } = await ref.watch({ after, limit: PAGE, wait: 0 })
    read.push(...steps)
    if (steps.length < PAGE) return read
  }
}
