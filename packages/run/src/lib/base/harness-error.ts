import { CodedError } from '@episodic/protocol/base/internal'

const MEANINGS = {
  'world-not-found': 'no world has that name',
  'world-invalid': 'what was found is no world',
  'policy-unknown': 'no such policy',
  'policy-failed': 'a policy threw, or did not return an action',
  'model-unavailable': 'the server of a language model did not answer, also after retries',
  'model-refused': 'it refuses for good: a key, a name, a URL or an option is wrong, or a quota is spent',
  'user-spoiled': 'a simulated user said what it does not know, or may not',
  'limit-reached': 'a run has spent what it may, or has taken the time that it may',
  'usage-missing': 'a model did not say what an answer took, and the run has a limit for it',
  'completion-invalid': 'an agent recorded something other than an answer of a language model',
  'grader-unknown': 'no such grader',
  'grader-failed': 'a grader threw, or did not return a verdict',
  'option-invalid': 'an option, or a combination of options, is not valid',
  'query-invalid': 'a query of episodes cannot be understood, or asks for what a run does not have',
  'secret-found': 'what was to be shared contains texts that look like keys',
  'not-forkable': 'a run has branch points or is continued, and a state of world or player is kept outside',
  'origin-missing': 'an episode goes on from a line that its run does not keep',
  'not-replayable': 'a run was played on a server of another system, which keeps the rules and the state',
  'dataset-invalid': 'tasks that cannot be played',
  'run-exists': 'the output folder holds a run already',
  'run-locked': 'another process is writing to the output folder',
  'run-mismatch': 'a run cannot be resumed with another configuration',
  'runs-differ': 'two runs cannot be compared, because they did not play the same',
  'run-invalid': 'a folder is not the folder of a run, or its files are damaged',
  'record-invalid': 'an episode holds what no line of a run can, such as a number beyond the largest',
  'run-failed': 'no episode of a run finished',
  'replay-diverged': 'episodes differ from their replay',
  'version-mismatch': 'an episode was recorded in another environment, or another version of it',
  'suite-not-found': 'no suite has that name',
  'suite-invalid': 'a suite cannot be played as it is',
  'suite-differs': 'a figure of a suite is not that of its reference, or a golden answer not that of the original',
  'suite-data-missing': 'data of a suite cannot be had',
  'suite-data-differs': 'data of a suite is not what it was proved with',
  'disk-failed': 'a file could not be written',
  'server-failed': 'a server did not start, or is gone',
  'worker-failed': 'the processes of a run did not start, or kept ending',
  'queue-unavailable': 'the queue of a fleet cannot be reached',
  'queue-tampered': 'the queue of a fleet has a text of somebody else',
  'not-recorded': 'a test plays against recorded answers of a model, and a request has none',
  'run-declined': 'a worker of a fleet does not play a run',
} as const

export type HarnessErrorCode = keyof typeof MEANINGS

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
