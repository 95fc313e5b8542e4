import { CodedError } from '@episodic/protocol/extend'

/**
 * - `world-not-found`, `world-invalid`: a world could not be found, or what was found is not one.
 * - `policy-unknown`: no such policy.
 * - `policy-failed`: a policy threw, or answered with what is no action.
 * - `model-refused`: the server of a language model refuses for good: its key, the model's name or the address is wrong.
 * - `budget-spent`: a policy took more of what it may use than an episode is allowed.
 * - `option-invalid`: the command was asked for something that it does not do.
 * - `not-forkable`: a run was to branch in a world whose state somebody else keeps.
 * - `dataset-invalid`: tasks that cannot be played.
 * - `run-exists`: the output folder holds a run already.
 * - `run-locked`: another process is writing to the run.
 * - `run-mismatch`: a run was to be resumed with another configuration.
 * - `runs-differ`: two runs were to be compared, and what they played is not the same.
 * - `run-invalid`: a folder is not one of a run, or its files are damaged.
 * - `run-failed`: no episode of a run finished.
 * - `replay-diverged`: episodes that were played again did not give what was recorded.
 * - `version-mismatch`: an episode was recorded in another environment, or another version of it.
 * - `disk-failed`: what was played could not be written down.
 * - `server-failed`: the server could not be started, or went away.
 * - `worker-failed`: the processes of a run did not start, or kept ending.
 */
export type HarnessErrorCode =
  | 'world-not-found'
  | 'world-invalid'
  | 'policy-unknown'
  | 'policy-failed'
  | 'model-refused'
  | 'budget-spent'
  | 'option-invalid'
  | 'not-forkable'
  | 'dataset-invalid'
  | 'run-exists'
  | 'run-locked'
  | 'run-mismatch'
  | 'runs-differ'
  | 'run-invalid'
  | 'run-failed'
  | 'replay-diverged'
  | 'version-mismatch'
  | 'disk-failed'
  | 'server-failed'
  | 'worker-failed'

export class HarnessError extends CodedError<HarnessErrorCode> {
  constructor(code: HarnessErrorCode, message: string, options?: ErrorOptions) {
    super('HarnessError', code, message, options)
  }

  static is(error: unknown, code?: HarnessErrorCode): error is HarnessError {
    return CodedError.isBranded('HarnessError', error, code)
  }
}
