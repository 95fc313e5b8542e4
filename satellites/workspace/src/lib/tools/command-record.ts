import { z } from 'zod'
import { diskChanges } from '../disk/disk-changes.ts'
import { sizeOf } from '../disk/file-content.ts'
import type { JobResult } from '../workers/messages.ts'
import { boundedOutput, KEPT } from './bounded-output.ts'
import { openStatements, variables } from './workspace-state.ts'

export const commandRecord = z.strictObject({
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

export type CommandRecord = z.output<typeof commandRecord>

/** Bytes that a record may have: a step is recorded with it. */
const MOST_BYTES = 1_000_000

/** Returns what is recorded of a job: bounded, with the whole of a long output in a file. `calls` numbers the file. */
export function toRecord(result: JobResult, calls: number): CommandRecord {
  const { elapsed, exitCode, memory, transaction } = result
  const [said, problem] = [result.stdout.toWellFormed(), withoutAdvice(result.stderr)]
  const file = `/tmp/output-${calls + 1}.txt`
  const [stdout, stderr] = [boundedOutput(said, file), boundedOutput(problem, file)]
  const isCut = stdout !== said || stderr !== problem
  const text = `${said}${problem}`.slice(0, KEPT).toWellFormed()
  const kept: CommandRecord['changes'] = isCut ? [{ how: 'write', path: file, entry: { kind: 'text', text } }] : []
  const record: CommandRecord = {
    ...{ stdout, stderr, exitCode, elapsed, changes: [...result.changes, ...kept] },
    grown: result.grown + (isCut ? sizeOf(text) : 0),
    memory: memory && { cwd: memory.cwd, variables: memory.variables.map(([name, value]) => [name, value]) },
    transaction: transaction?.map(({ sql, now, seed }) => ({ sql, now, seed: [...seed] })) ?? null,
  }
  if (Buffer.byteLength(JSON.stringify(record)) <= MOST_BYTES) return record
  return endedRecord(
    `It changed more than ${MOST_BYTES} bytes of files and variables at once, so nothing was kept. Change less with one call.`,
  )
}

/** Returns what is recorded of a job that was ended: it changed nothing. */
export function endedRecord(message: string): CommandRecord {
  const nothing = { changes: [], grown: 0, elapsed: 0, memory: null, transaction: null }
  return { ...nothing, stdout: '', stderr: `${message}\n`, exitCode: 137 }
}

export function shownRecord({ stdout, stderr, exitCode }: CommandRecord): string {
  const code = exitCode === 0 ? '' : `[exit code ${exitCode}]`
  const parts = [stdout.replace(/\n$/, ''), stderr.replace(/\n$/, ''), code].filter((part) => part !== '')
  return parts.join('\n') || '[no output]'
}

/** Returns an output without advice for those who configure the shell. */
function withoutAdvice(text: string): string {
  return text.replace(/, increase executionLimits\.\w+/g, '').toWellFormed()
}
