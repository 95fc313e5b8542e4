import type { JsonObject } from '@episodic/protocol'
import { CodedError } from '@episodic/protocol/extend'
import type { RefusalCode } from './turn-result.ts'

/**
 * - `definition-invalid`: a context or conversation is defined in a way that cannot be played.
 * - `handler-failed`: a context's code threw, or left data that its own schemas refuse. Nothing changed.
 * - `record-invalid`: a record is not one of this conversation.
 * - every {@link RefusalCode}: `handleInput` gives it back as `refused`; an effect that opens what is not there has it thrown.
 */
export type ContextErrorCode = 'definition-invalid' | 'handler-failed' | 'record-invalid' | RefusalCode

export class ContextError extends CodedError<ContextErrorCode> {
  constructor(code: ContextErrorCode, message: string, options?: ErrorOptions & { details?: JsonObject }) {
    super('ContextError', code, message, options)
  }

  static is(error: unknown, code?: ContextErrorCode): error is ContextError {
    return CodedError.isBranded('ContextError', error, code)
  }
}
