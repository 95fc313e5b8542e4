import { findNonJson } from '@episodic/protocol'
import type { SessionState } from './session-record.ts'
import { StateError } from './state-error.ts'

/** Throws `not-json` for a state that would not come back from a store as it went in. */
export function assertJsonState(state: SessionState): void {
  const problem = findNonJson(state)
  if (problem)
    throw new StateError('not-json', `The rules left a state that JSON cannot say: ${problem.replace('$', 'state')}.`)
}
