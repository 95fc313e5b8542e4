import type { GradableLine } from '@episodic/report/grades/gradable-lines'
import { HarnessError, type HarnessErrorCode } from '@episodic/run/base/harness-error'

/** After so many faults in a row a grader is not asked any more. */
const MOST_FAULTS = 5
const FATAL: ReadonlySet<HarnessErrorCode> = new Set([
  'model-refused',
  'option-invalid',
  'version-mismatch',
  'disk-failed',
])

export class GraderFaults {
  readonly #grader: string
  #inARow = 0
  count = 0
  first: string | null = null
  /** Why the grader is not asked any more: a fault that is the same for every episode, or five in a row. */
  fatal: unknown = null

  constructor(grader: string) {
    this.#grader = grader
  }

  add({ task, attempt }: GradableLine, error: unknown): void {
    this.count += 1
    this.#inARow += 1
    this.first ??= `task ${task}, attempt ${attempt}: ${error instanceof Error ? error.message : String(error)}`
    if (HarnessError.is(error) && FATAL.has(error.code)) this.fatal ??= error
    else if (this.#inARow >= MOST_FAULTS)
      this.fatal ??= new HarnessError(
        'grader-failed',
        `The grader ${this.#grader} failed ${this.#inARow} times in a row. First: ${this.first}`,
        { cause: error },
      )
  }

  endRow(): void {
    this.#inARow = 0
  }
}
