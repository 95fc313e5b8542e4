import type { Action } from '@episodic/protocol'
import type { StepResult } from '../session/step-result.ts'
import { delegate, type Environment, type ResetResult } from './environment.ts'

/** An entry of a recording. */
export type Recorded =
  | { readonly kind: 'reset'; readonly start: ResetResult }
  | { readonly kind: 'restored'; readonly start: ResetResult }
  | { readonly kind: 'step'; readonly action: Action; readonly step: StepResult }
  | { readonly kind: 'failed'; readonly cause: unknown }
  | { readonly kind: 'closed' }

/**
 * Calls `record` for every reset, restore, step, failure and close of an environment. An error thrown by `record`
 * rejects the call.
 *
 * Forks are not recorded: two lines of play in one recording would read as an episode that was never played. Wrap each
 * fork in its own recording.
 */
export function withRecording(environment: Environment, record: (event: Recorded) => void): Environment {
  const observed = async <T>(work: Promise<T>, event: (result: T) => Recorded): Promise<T> => {
    const result = await work.catch((cause) => {
      record({ kind: 'failed', cause })
      throw cause
    })
    record(event(result))
    return result
  }
  return delegate(environment, {
    reset: (task, options) => observed(environment.reset(task, options), (start) => ({ kind: 'reset', start })),
    restore: (snapshot, options) =>
      observed(environment.restore(snapshot, options), (start) => ({ kind: 'restored', start })),
    step: (action, options) => observed(environment.step(action, options), (step) => ({ kind: 'step', action, step })),
    close: () => observed(environment.close(), () => ({ kind: 'closed' })),
  })
}
