import { type Json, WireError } from '@episodic/protocol'
import type { Clock, SessionRecord } from '@episodic/state'
import type { CallOptions } from '../../environment/rules/call-options.ts'
import { prepareStep, type ToPrepare } from '../../environment/rules/prepare-step.ts'
import type { StepCall } from '../host.ts'
import type { SessionRules } from '../operate/faults.ts'
import { repeat } from '../sessions/session-expiry.ts'

/** Creates the preparation of a step, which runs in the session's turn. Its failure is a fault of the environment. */
export function createPreparation(
  seat: string,
  { action: { tool }, waiting }: StepCall,
  needed: ToPrepare,
  { clock, rules }: { readonly clock: Clock; readonly rules: SessionRules },
): { readonly external: boolean; prepare(record: SessionRecord): Promise<Json> } {
  const { external } = needed.preparation
  return {
    external,
    async prepare(record: SessionRecord) {
      const stopReporting = reportWaiting(clock, waiting?.report, 'Getting from outside what the call needs.')
      // An external effect goes on even if its caller is gone, so that a retry may find the answer.
      const signal = external ? undefined : waiting?.signal
      const { seq } = record.seats[seat] as { readonly seq: number }
      const isLast = seq + 1 >= record.limits.steps
      const report = waiting?.onPrepareReport ?? waiting?.report
      const prepare = () => prepareStep(tool, needed, record, { clock, isLast, signal, report })
      try {
        return await rules.guard(prepare, waiting)
      } finally {
        stopReporting()
      }
    },
  }
}

/** Returns `outcome-unknown`, for a fault after an external effect may have begun. */
export function afterEffect(tool: string, thrown: unknown): unknown {
  return WireError.is(thrown, 'environment-failed') ? outcomeUnknown(tool, thrown) : thrown
}

function outcomeUnknown(tool: string, cause: WireError): WireError {
  const { reference } = cause.details
  return new WireError(
    'outcome-unknown',
    `This call of ${tool} failed on the way, and whether it did what it does outside cannot be known. The session is as it was. Reference: ${reference}.`,
    { cause, details: { reference: reference as string } },
  )
}

/** Milliseconds between two reports of a call that still waits: less than any client waits without a sign of life. */
const INTERVAL = 5_000

/** Reports what a call waits for, now and every 5 seconds, until the returned function is called; if asked. */
export function reportWaiting(clock: Clock, report: CallOptions['report'], message: string): () => void {
  if (!report) return () => {}
  report(message)
  return repeat(clock, INTERVAL, async () => report(message))
}
