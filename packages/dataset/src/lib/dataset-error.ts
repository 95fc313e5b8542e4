import type { JsonObject } from '@episodic/protocol'
import { CodedError } from '@episodic/protocol/extend'

/** Everything that this package throws on purpose. */
export type DatasetErrorCode =
  /** A row has the wrong shape, is not plain JSON, or has an id that is not its content's. */
  | 'task-invalid'
  /** An option or a definition is out of range. */
  | 'options-invalid'
  /** A generator kept repeating itself before it had made as many tasks as were asked for. */
  | 'exhausted'
  /** The tasks given to a curriculum are none, repeated, or leave a stage with nothing to play. */
  | 'pool-invalid'
  /** A saved state is damaged, or was saved by another curriculum. */
  | 'state-invalid'
  /** An outcome was reported for a task that the curriculum does not hold. */
  | 'unknown-task'
  /** A file could not be read or written. */
  | 'file-failed'
  /** A line is longer than the reader may hold. */
  | 'line-too-long'

/** What went wrong with a dataset: `code` for programs, `message` for people. */
export class DatasetError extends CodedError<DatasetErrorCode> {
  constructor(code: DatasetErrorCode, message: string, options?: ErrorOptions & { details?: JsonObject }) {
    super('DatasetError', code, message, options)
  }

  static is(error: unknown, code?: DatasetErrorCode): error is DatasetError {
    return CodedError.isBranded('DatasetError', error, code)
  }
}
