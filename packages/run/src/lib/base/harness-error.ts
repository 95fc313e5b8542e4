import { CodedError } from '@episodic/protocol/base/internal'

/**
 * - `world-not-found`, `world-invalid`: a world could not be found, or what was found is not one.
 * - `policy-unknown`: no such policy.
 * - `policy-failed`: a policy threw, or did not return an action.
 * - `model-unavailable`: the server of a language model did not answer, also after retries.
 * - `model-refused`: the server of a language model rejects requests permanently: its key, model name, URL or an option
 *   is wrong, or its quota is spent.
 * - `limit-reached`: a run has spent what it may, or has taken the time that it may.
 * - `usage-missing`: a model did not say what an answer took, and the run has a limit for it.
 * - `completion-invalid`: an agent recorded something other than an answer of a language model.
 * - `grader-unknown`, `grader-failed`: no such grader, or one threw or did not return a verdict.
 * - `option-invalid`: an option, or a combination of options, is not valid.
 * - `query-invalid`: a query of episodes cannot be understood, or asks for what a run does not have.
 * - `secret-found`: what was to be shared contains texts that look like keys.
 * - `not-forkable`: a run has branch points or is continued, and the state of its world or player is kept outside.
 * - `origin-missing`: an episode goes on from a line that its run does not keep.
 * - `not-replayable`: a run was played on a server of another system, which keeps the rules and the state.
 * - `dataset-invalid`: tasks that cannot be played.
 * - `run-exists`, `run-locked`: the output folder holds a run already, or another process is writing to it.
 * - `run-mismatch`: a run cannot be resumed with another configuration.
 * - `runs-differ`: two runs cannot be compared, because they did not play the same.
 * - `run-invalid`: a folder is not the folder of a run, or its files are damaged.
 * - `record-invalid`: an episode holds what no line of a run can, such as a number beyond the largest.
 * - `run-failed`: no episode of a run finished.
 * - `replay-diverged`: episodes differ from their replay.
 * - `version-mismatch`: an episode was recorded in another environment, or another version of it.
 * - `suite-not-found`, `suite-invalid`: a suite could not be found, or it cannot be played as it is.
 * - `suite-differs`: a figure of a suite does not agree with its reference, or a golden answer with the original's.
 * - `suite-data-missing`, `suite-data-differs`: data of a suite cannot be had, or is not what it was proved with.
 * - `disk-failed`: a file could not be written.
 * - `server-failed`: a server did not start, or is gone.
 * - `worker-failed`: the processes of a run did not start, or kept ending.
 * - `queue-unavailable`, `queue-tampered`: the queue of a fleet cannot be reached, or has a text of somebody else.
 * - `not-recorded`: a test plays against recorded answers of a model, and a request has none.
 * - `run-declined`: a worker of a fleet does not play a run.
 */
export type HarnessErrorCode =
  | 'world-not-found'
  | 'world-invalid'
  | 'policy-unknown'
  | 'policy-failed'
  | 'model-unavailable'
  | 'model-refused'
  | 'limit-reached'
  | 'usage-missing'
  | 'completion-invalid'
  | 'grader-unknown'
  | 'grader-failed'
  | 'option-invalid'
  | 'query-invalid'
  | 'secret-found'
  | 'not-forkable'
  | 'origin-missing'
  | 'not-replayable'
  | 'dataset-invalid'
  | 'run-exists'
  | 'run-locked'
  | 'run-mismatch'
  | 'runs-differ'
  | 'run-invalid'
  | 'record-invalid'
  | 'run-failed'
  | 'replay-diverged'
  | 'version-mismatch'
  | 'suite-not-found'
  | 'suite-invalid'
  | 'suite-differs'
  | 'suite-data-missing'
  | 'suite-data-differs'
  | 'disk-failed'
  | 'server-failed'
  | 'worker-failed'
  | 'queue-unavailable'
  | 'queue-tampered'
  | 'not-recorded'
  | 'run-declined'

export class HarnessError extends CodedError<HarnessErrorCode> {
  static override readonly brand: string = 'HarnessError'

  /** @param said - the message, or its lines. What files say is in it, and makes no line of its own. */
  constructor(code: HarnessErrorCode, said: string | readonly string[], options?: ErrorOptions) {
    super(code, [said].flat().map(flattened).join('\n'), options)
  }
}

/** Returns a message as one line, followed by the frames of the code that threw, if it ends with them. */
export function flattened(message: string): string {
  const parts = message.split(/\n(?= +at .+:\d+(?::\d+)?\)?$)/m)
  return parts.map((part) => part.replace(/[^\S ]+/g, ' ')).join('\n')
}

export function invalidOption(message: string, options?: ErrorOptions): HarnessError {
  return new HarnessError('option-invalid', message, options)
}
