import { sizeOf } from '../disk/file-content.ts'
import { endedResult, type JobResult } from '../workers/job-result.ts'
import { boundedOutput, KEPT } from './bounded-output.ts'

const ADVICE = /, increase executionLimits\.\w+| in browser environments\. Exclude '[^']+' from .+ bundle\./g

/** Bytes that a record may have: a step is recorded with it. */
const MOST_BYTES = 1_000_000

/** Returns what is recorded of a job: bounded, with the whole of a long output in a file. `calls` numbers the file. */
export function toRecord(result: JobResult, calls: number): JobResult {
  const [said, problem] = [result.stdout.toWellFormed(), result.stderr.replace(ADVICE, '').toWellFormed()]
  const file = `/tmp/output-${calls + 1}.txt`
  const [stdout, stderr] = [boundedOutput(said, file), boundedOutput(problem, file)]
  const isCut = stdout !== said || stderr !== problem
  const text = `${said}${problem}`.slice(0, KEPT).toWellFormed()
  const kept: JobResult['changes'] = isCut ? [{ how: 'write', path: file, entry: { kind: 'text', text } }] : []
  const record: JobResult = {
    ...{ ...result, stdout, stderr, changes: [...result.changes, ...kept] },
    grown: result.grown + (isCut ? sizeOf(text) : 0),
  }
  if (Buffer.byteLength(JSON.stringify(record)) <= MOST_BYTES) return record
  return endedResult(
    `It changed more than ${MOST_BYTES} bytes of files and variables at once, so nothing was kept. Change less with one call.`,
  )
}

export function shownRecord({ stdout, stderr, exitCode }: JobResult): string {
  const code = exitCode === 0 ? '' : `[exit code ${exitCode}]`
  const parts = [stdout.replace(/\n$/, ''), stderr.replace(/\n$/, ''), code].filter((part) => part !== '')
  return parts.join('\n') || '[no output]'
}
