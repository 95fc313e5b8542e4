import { findNonJson } from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import type { SessionState } from './session-record.ts'

/** Throws `not-json` for a state that would not come back from a store as it went in. */
export function assertJsonState(state: SessionState): void {
  const problem = findProblem(state)
  if (problem)
    throw new StateError('not-json', `The rules left a state that JSON cannot say: ${problem.replace('$', 'state')}.`)
}

/** What the rules left may contain itself or nest without end, and reading it may run their code. */
function findProblem(state: SessionState): string | null {
  try {
    return findNonJson(state)
  } catch {
    return `$ ${UNREADABLE}`
  }
}

/** Why a value could not be read to its end, in words that run none of its code. */
export const UNREADABLE = 'contains itself, is nested too deep, or has a getter that throws'
