import { CodedError } from '@episodic/protocol/internal'
import type { RefusalCode } from './turn-result.ts'

/**
 * - `definition-invalid`: a context or conversation is defined in a way that cannot be played.
 * - `handler-failed`: a context's code threw, or left data that its own schemas reject. Nothing changed.
 * - `record-invalid`: a value is not a record of this conversation.
 * - `package-missing`: a package that only some conversations need is not installed.
 * - every {@link RefusalCode}: `handleInput` returns it as `refused`; `open` and `publish` of a handler throw it.
 */
export type ContextErrorCode =
  | 'definition-invalid'
  | 'handler-failed'
  | 'record-invalid'
  | 'package-missing'
  | RefusalCode

export class ContextError extends CodedError<ContextErrorCode> {
  static override readonly brand: string = 'ContextError'
}

/** Returns the error for code of a definition that threw. `what` names it. */
export function handlerThrew(what: string, cause: unknown): ContextError {
  const why = cause instanceof Error ? cause.message.replace(/\.$/, '') : cause
  return handlerFailed(`${what} threw: ${why}`, { cause })
}

export function handlerFailed(why: string, options?: ErrorOptions): ContextError {
  return new ContextError('handler-failed', `${why}. Nothing changed.`, options)
}
