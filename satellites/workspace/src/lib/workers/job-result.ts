import { z } from 'zod'
import { diskChanges } from '../disk/disk-changes.ts'
import { openStatements } from '../sql/open-statement.ts'

export const variables = z.array(z.tuple([z.string(), z.string()]))

/** What a command did; a step is recorded with it. */
export const jobResult = z.strictObject({
  stdout: z.string(),
  stderr: z.string(),
  exitCode: z.int(),
  changes: diskChanges,
  /** Bytes by which all files together are larger than before. */
  grown: z.int(),
  /** Milliseconds by which virtual time has moved. */
  elapsed: z.number(),
  /** What the shell keeps; `null` if it keeps what it had. */
  memory: z.strictObject({ cwd: z.string(), variables }).nullable(),
  /** The statements of the transaction that is open; `null` if it is the one that was. */
  transaction: openStatements.nullable(),
})

export type JobResult = z.output<typeof jobResult>

/** Returns what is recorded of a job that was ended, or not begun: it changed nothing. */
export function endedResult(message: string, exitCode = 137): JobResult {
  const nothing = { changes: [], grown: 0, elapsed: 0, memory: null, transaction: null }
  return { ...nothing, stdout: '', stderr: `${message}\n`, exitCode }
}
