import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { McpError, noAnswer, reasonOf } from '../mcp-error.ts'
import { socketFailure, statusFailure } from './http-failure.ts'

/** Translates an error of the SDK's transport, which means that no answer came. */
export function failureOf(name: string, cause: unknown): McpError {
  if (McpError.is(cause)) return cause
  if (cause instanceof SdkHttpError && cause.status !== undefined)
    return statusFailure(name, { status: cause.status, text: String(cause.data?.text ?? ''), cause })
  const isMalformed =
    (cause instanceof SdkError && cause.code === SdkErrorCode.ClientHttpUnexpectedContent) ||
    cause instanceof SyntaxError ||
    /ZodError$/.test((cause as Error)?.name)
  if (!isMalformed) return socketFailure(name, cause)
  const why = cause instanceof SdkError ? reasonOf(cause) : 'it answered with what is no message of MCP'
  return noAnswer('malformed', name, { why, cause })
}
