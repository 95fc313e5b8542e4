import { type Channel, EXTENSION, WireError } from '@episodic/protocol'
import { MODERN_VERSION } from '@episodic/protocol/internal'
import { EnvError } from '../env-error.ts'
import type { CallOptions } from '../session/call-options.ts'

/**
 * The protocol versions of MCP that a server supports. Since 2026-07-28 (`modern`), requests are stateless. Before that
 * (`legacy`), a client starts with a handshake, and the server may keep a session for it. A server of environments
 * supports `either`, and needs no handshake.
 */
export type ProtocolSupport = 'modern' | 'legacy' | 'either'

/** The part of an unchecked `server/discover` answer that is read. */
interface Discovered {
  readonly supportedVersions?: unknown
  readonly capabilities?: { readonly extensions?: { readonly [name: string]: unknown } }
}

/**
 * Resolves with the support of a server, which is asked by a stateless request. No answer means `legacy`. Rejects with
 * the reason of an abort, and with `login-failed`.
 */
export async function findProtocolSupport(
  channel: Omit<Channel, 'close'>,
  { signal }: CallOptions,
): Promise<ProtocolSupport> {
  try {
    const { supportedVersions, capabilities } = (await channel.request('server/discover', {}, { signal })) as Discovered
    if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) return 'legacy'
    return capabilities?.extensions?.[EXTENSION] === undefined ? 'modern' : 'either'
  } catch (error) {
    signal?.throwIfAborted()
    // Going on as `legacy` would ask the user to log in once more.
    if (EnvError.is(error, 'login-failed')) throw error
    // Some servers list their versions only in an error.
    const { supported } = WireError.is(error, 'unsupported-version') ? error.details : {}
    return Array.isArray(supported) && supported.includes(MODERN_VERSION) ? 'modern' : 'legacy'
  }
}
