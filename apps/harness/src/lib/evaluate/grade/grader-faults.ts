import type { GradableLine } from '@episodic/report'
import { HarnessError, type HarnessErrorCode } from '../../base/harness-error.ts'

/** After so many faults in a row a grader is not asked any more. */
const MOST_FAULTS = 5
/** Faults that are the same for every episode. */
const FATAL: ReadonlySet<HarnessErrorCode> = new Set([
  'model-refused',
  'option-invalid',
  'version-mismatch',
  'disk-failed',
])

export interface GraderFaults {
  readonly count: number
  /** The first one, with its episode; `null` without any. */
  readonly first: string | null
  /** Why the grader is not asked any more: a fault that is the same for every episode, or five in a row. */
  readonly fatal: unknown
  add(line: GradableLine, error: unknown): void
  /** Ends a row of faults. */
  endRow(): void
}

export function createFaults(grader: string): GraderFaults {
  let [count, inARow] = [0, 0]
  let first: string | null = null
  let fatal: unknown = null
  return {
    get count() {
      return count
    },
    get first() {
      return first
    },
    get fatal() {
      return fatal
    },
    add({ task, attempt }, error) {
      count += 1
      inARow += 1
      first ??= `task ${task}, attempt ${attempt}: ${error instanceof Error ? error.message : String(error)}`
      if (HarnessError.is(error) && FATAL.has(error.code)) fatal ??= error
      else if (inARow >= MOST_FAULTS)
        fatal ??= new HarnessError(
          'grader-failed',
          `The grader ${grader} failed ${inARow} times in a row. First: ${first}`,
          { cause: error },
        )
    },
    endRow() {
      inARow = 0
    },
  }
}
