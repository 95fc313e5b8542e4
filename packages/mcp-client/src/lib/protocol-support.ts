import { type Channel, EXTENSION, WireError } from '@episodic/protocol'
import { MODERN_VERSION, pause } from '@episodic/protocol/internal'
import { McpError } from './mcp-error.ts'
import type { ProtocolSupport, WaitOptions } from './target.ts'

interface Discovered {
  readonly supportedVersions?: unknown
  readonly capabilities?: { readonly extensions?: { readonly [name: string]: unknown } }
}

/** What a server supports, and what a handshake with it gave, if it was made to find that out. */
export interface Found<Handshake> {
  readonly protocol: ProtocolSupport
  /** What a server without a handshake says that it can do, unchecked. */
  readonly capabilities?: Discovered['capabilities']
  readonly handshake?: Handshake | undefined
}

/** Milliseconds after which a server that has not answered is asked for a handshake too. */
const PROBE_TIME = 10_000

/**
 * Finds out what a server supports. One that has not answered after {@link PROBE_TIME} may be slow, or may wait for a
 * handshake before it answers anything: it is asked for the handshake too, and its first answer decides, whenever it
 * comes. Rejects with the reason of an abort, with `login-failed`, and with what `shakeHands` rejects with.
 */
export async function negotiate<Handshake>(
  channel: Omit<Channel, 'close'>,
  shakeHands: (options: { readonly signal: AbortSignal }) => Promise<Handshake>,
  { signal }: WaitOptions,
): Promise<Found<Handshake>> {
  const [probe, handshake] = [new AbortController(), new AbortController()]
  const untilAbort = (one: AbortController) => ({ signal: signal ? AbortSignal.any([signal, one.signal]) : one.signal })
  const probing: Promise<Found<Handshake>> = findProtocolSupport(channel, untilAbort(probe))
  const quick = await withinTime(probing, PROBE_TIME, signal)
  if (quick && quick.protocol !== 'legacy') return quick
  const shaking = shakeHands(untilAbort(handshake)).then(
    (handshake): Found<Handshake> => ({ protocol: 'legacy', handshake }),
    async (error) => {
      // A server with the stateless version alone refuses, and has answered the probe, or will.
      const found = await probing
      if (found.protocol === 'legacy') throw error
      return found
    },
  )
  const found = await Promise.race([shaking, probing.then((one) => (one.protocol === 'legacy' ? shaking : one))])
  // Only the other one is ended: a handshake that was made stays.
  ;(found.handshake === undefined ? handshake : probe).abort()
  return found
}

/** Settles like a promise that does in time; resolves with `null` after that time, and when `signal` is aborted. */
export async function withinTime<T>(
  promise: Promise<T>,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<T | null> {
  const settled = new AbortController()
  const late = pause(milliseconds, signal ? AbortSignal.any([signal, settled.signal]) : settled.signal)
  const ended = late.then(
    () => null,
    () => null,
  )
  return Promise.race([promise, ended]).finally(() => settled.abort())
}

/** Asks a server by a stateless request what it supports; no answer: `legacy`. May reject with `login-failed`. */
export async function findProtocolSupport(
  channel: Omit<Channel, 'close'>,
  { signal }: WaitOptions,
): Promise<Found<never>> {
  try {
    const { supportedVersions, capabilities } = (await channel.request('server/discover', {}, { signal })) as Discovered
    if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) return { protocol: 'legacy' }
    return { protocol: capabilities?.extensions?.[EXTENSION] === undefined ? 'modern' : 'either', capabilities }
  } catch (error) {
    signal?.throwIfAborted()
    // Going on as `legacy` would ask the user to log in once more.
    if (McpError.is(error, 'login-failed')) throw error
    // Some servers list their versions only in an error.
    const { supported } = WireError.is(error, 'unsupported-version') ? error.details : {}
    return { protocol: Array.isArray(supported) && supported.includes(MODERN_VERSION) ? 'modern' : 'legacy' }
  }
}
