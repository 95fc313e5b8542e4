import type { Action } from '@episodic/protocol'
import { delegate, type Environment, type ResetResult, type StepResult } from './environment.ts'

/** What happened, as it happens. */
export type Recorded =
  | { readonly kind: 'reset'; readonly start: ResetResult }
  | { readonly kind: 'restored'; readonly start: ResetResult }
  | { readonly kind: 'step'; readonly action: Action; readonly step: StepResult }
  | { readonly kind: 'failed'; readonly cause: unknown }
  | { readonly kind: 'closed' }

/**
 * Tells `record` of everything that is played in an environment, failures included. What `record` throws is passed on.
 *
 * Its forks are not recorded: two lines of play in one record would read as an episode that never was. Wrap each fork in
 * a recording of its own.
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
