import { HarnessError } from '../harness-error.ts'
import type { Finding } from './finding.ts'

/** Describes an error that ended a check: as the solver's where the solver threw it, and otherwise as it is told here. */
export function blame(
  error: unknown,
  { name, what, advice }: Pick<Finding, 'name' | 'what' | 'advice'>,
): Pick<Finding, 'name' | 'what' | 'advice'> {
  const { message } = error as Error
  const otherwise = { name, what: `${what}: ${message}`, advice }
  return HarnessError.is(error, 'policy-failed')
    ? {
        name: 'policy-failed',
        what: message,
        advice: 'Make the solver answer every observation of every task with an action.',
      }
    : otherwise
}
