import { type Channel, EXTENSION, WireError } from '@episodic/protocol'
import { MODERN_VERSION } from '@episodic/protocol/extend'
import { EnvError } from '../env-error.ts'
import type { CallOptions } from '../environment/environment.ts'

/**
 * Which era of MCP a server speaks: since 2026-07-28 every request speaks for itself (`modern`); before that a client
 * shook hands, and a server could keep a session for it (`legacy`). A server of worlds takes `either`, and with no
 * handshake at that.
 */
export type Era = 'modern' | 'legacy' | 'either'

/** What is read of an answer that may be anything. */
interface Discovered {
  readonly supportedVersions?: unknown
  readonly capabilities?: { readonly extensions?: { readonly [name: string]: unknown } }
}

/**
 * Asks a server, by a channel that speaks the modern era, whether it does too. One that does not answer does not. Rejects
 * with the reason of an abort, and with `login-failed`.
 */
export async function findEra(channel: Omit<Channel, 'close'>, { signal }: CallOptions): Promise<Era> {
  try {
    const { supportedVersions, capabilities } = (await channel.request('server/discover', {}, { signal })) as Discovered
    if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) return 'legacy'
    return capabilities?.extensions?.[EXTENSION] === undefined ? 'modern' : 'either'
  } catch (error) {
    signal?.throwIfAborted()
    // Whoever could not log in would be asked to once more.
    if (EnvError.is(error, 'login-failed')) throw error
    // Some say what they speak by a refusal alone.
    const { supported } = WireError.is(error, 'unsupported-version') ? error.details : {}
    return Array.isArray(supported) && supported.includes(MODERN_VERSION) ? 'modern' : 'legacy'
  }
}
