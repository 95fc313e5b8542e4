import type { JsonObject } from '@episodic/protocol'

/** What a report is told about a run besides its sealed episodes. */
export interface ReportedRun {
  readonly name: string
  /** How many episodes were planned. Left out, as many as were sealed. */
  readonly scheduled?: number | undefined
  /** What the run was asked to do; shown as it is. */
  readonly configuration: JsonObject
}
