import type { History } from '@episodic/state'
import { rulesFailed } from '../../server-error.ts'
import type { Call, EnvironmentDefinition } from '../definition/environment.ts'

/** Returns what reward terms, `success` and verdicts get as `calls` of what a session remembers. */
export function callsOf({ history }: EnvironmentDefinition, remembered: History): readonly Call[] {
  return history === 'calls' ? (remembered as readonly Call[]) : UNKEPT
}

/** In the place of calls that no session keeps: an empty list would say that nobody has called anything. */
const UNKEPT: readonly Call[] = new Proxy([], {
  get(_, key) {
    // An error may be written with all that it knows.
    if (key === 'toJSON') return () => undefined
    throw rulesFailed("`calls` is read, and no session keeps them: write `history: 'calls'` in the definition.")
  },
})
