import { type JsonObject, WireError } from '@episodic/protocol'
import { findWireErrorCode } from '@episodic/protocol/internal'
import { McpError } from '../mcp-error.ts'

export interface RpcAnswer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export function parseAnswer(text: string): RpcAnswer | null {
  try {
    const message: unknown = JSON.parse(text)
    return typeof message === 'object' ? message : null
  } catch {
    return null
  }
}

export function isRpcError(error: unknown): error is RpcError {
  const { code, message } = (error ?? {}) as Partial<RpcError>
  return typeof code === 'number' && typeof message === 'string'
}

/** Returns the error of an error answer: a `WireError` for a known code, else `refused` with `failure` as details. */
export function refusal({ code, message, data }: RpcError, failure: JsonObject = { retryable: false }): Error {
  const known = findWireErrorCode(code)
  const details = typeof data === 'object' && data !== null ? (data as JsonObject) : {}
  return known
    ? new WireError(known, message, { details })
    : new McpError('refused', `The server refused: ${message} (${code})`, {
        why: message,
        details: { ...failure, refused: true },
      })
}
