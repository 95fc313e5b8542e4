import { WireError, type WireErrorCode } from '@episodic/protocol'
import { WIRE_ERROR_NUMBERS } from '@episodic/protocol/internal'
import { type InternalError, problemOf } from '../http/problem.ts'

export type FrameErrorCode =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'SESSION_ERROR'

const FRAME_CODES: Partial<Record<WireErrorCode, FrameErrorCode>> = {
  'parse-error': 'INVALID_JSON',
  'method-not-found': 'UNKNOWN_TYPE',
  'invalid-params': 'VALIDATION_ERROR',
  capacity: 'CAPACITY_REACHED',
}

/** `error` is our own code, beside the code of OpenEnv. */
export function errorFrame(thrown: unknown, onError: (error: InternalError) => void, code?: FrameErrorCode): object {
  const { code: error, message } = problemOf(thrown, onError)
  const named = code ?? FRAME_CODES[error as WireErrorCode] ?? 'EXECUTION_ERROR'
  return { type: 'error', data: { message, code: named, error, ...detailsOf(thrown) } }
}

export function rpcError(thrown: unknown, id: unknown, onError: (error: InternalError) => void): object {
  const { code, message } = problemOf(thrown, onError)
  const number = WIRE_ERROR_NUMBERS[code as WireErrorCode]
  return { jsonrpc: '2.0', id, error: { code: number, message, data: { code, ...detailsOf(thrown) } } }
}

function detailsOf(thrown: unknown): object {
  return WireError.is(thrown) ? thrown.details : {}
}
