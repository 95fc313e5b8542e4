import { HarnessError } from '../harness-error.ts'
import type { Finding } from './check-report.ts'

/** Describes an error that ended a check: as the solver's where the solver threw it, and otherwise as it is told here. */
export function blame(
  error: unknown,
  { what, advice }: Pick<Finding, 'what' | 'advice'>,
): Pick<Finding, 'what' | 'advice'> {
  const { message } = error as Error
  const otherwise = { what: `${what}: ${message}`, advice }
  return HarnessError.is(error, 'policy-failed')
    ? { what: message, advice: 'Make the solver answer every observation of every task with an action.' }
    : otherwise
}
