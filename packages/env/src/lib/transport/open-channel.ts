import { type ChannelOptions, listAll as listPages, McpError, type McpErrorCode } from '@episodic/mcp-client'
import { openChannel as open, type Target } from '@episodic/mcp-client/channel'
import type { Channel } from '@episodic/protocol'
import { EnvError, type EnvErrorCode } from '../env-error.ts'

/**
 * Opens a channel to any MCP server, for single requests. Code that needs Node is loaded only for targets that need it.
 * Rejects with `target-invalid`, `option-invalid`, `login-failed` and `connection-failed`.
 */
export async function openChannel(target: Target, options: ChannelOptions = {}): Promise<Channel> {
  // A channel of its own gives errors of its own.
  if (typeof target === 'object' && target !== null && 'request' in target) return target
  const channel = await asOurs(open(target, options))
  return {
    request: (method, params, requestOptions) => asOurs(channel.request(method, params, requestOptions)),
    close: () => channel.close(),
  }
}

/** Returns the items of a list on all of its pages. Rejects with `reply-malformed` for more than 100 pages. */
export function listAll(...args: Parameters<typeof listPages>): ReturnType<typeof listPages> {
  return asOurs(listPages(...args))
}

/** The codes of the client that mean something else here. */
const CODES: Partial<Readonly<Record<McpErrorCode, EnvErrorCode>>> = {
  malformed: 'reply-malformed',
  'target-invalid': 'target-invalid',
  'option-invalid': 'option-invalid',
  'login-failed': 'login-failed',
}

/** Settles as a promise of the client does, with its errors as this package's. */
export async function asOurs<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (error) {
    throw toEnvError(error)
  }
}

export function toEnvError(error: unknown): unknown {
  if (!McpError.is(error)) return error
  const { code, message, details, cause } = error
  return new EnvError(CODES[code] ?? 'connection-failed', message, { details, cause })
}
