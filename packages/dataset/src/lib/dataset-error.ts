import { CodedError } from '@episodic/protocol/internal'

/** The errors that this package throws on purpose. */
export type DatasetErrorCode =
  /** A row has the wrong shape, is not plain JSON, or its id is not the hash of its content. */
  | 'task-invalid'
  /** An option or a definition is out of range. */
  | 'options-invalid'
  /** A generator repeated itself before it had made the requested number of tasks. */
  | 'exhausted'
  /** A curriculum has no tasks, repeated tasks, or a stage without tasks. */
  | 'pool-invalid'
  /** A saved state is damaged, or was saved by another curriculum. */
  | 'state-invalid'
  /** An outcome was reported for a task that is not in the curriculum. */
  | 'unknown-task'
  /** A file could not be read or written. */
  | 'file-failed'
  /** A line is longer than the reader may hold. */
  | 'line-too-long'

/** An error of a dataset: `code` for programs, `message` for people. */
export class DatasetError extends CodedError<DatasetErrorCode> {
  static override readonly brand: string = 'DatasetError'
}

export function optionsInvalid(message: string, options?: ErrorOptions): DatasetError {
  return new DatasetError('options-invalid', message, options)
}
