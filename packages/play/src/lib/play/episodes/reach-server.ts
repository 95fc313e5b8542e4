import { connect, type HttpTarget, type Target } from '@episodic/env'
import { invalidOption } from '@episodic/run/base/harness-error'
import type { Transport } from '../run-settings.ts'

/** Milliseconds that a server has to accept a WebSocket. */
const HANDSHAKE_TIMEOUT = 5_000

/**
 * Chooses the transport to a running server of Episodic: the one asked for, else a WebSocket if the server accepts one
 * at the address, else HTTP. A server of a configuration file that is a command is reached over its pipe.
 *
 * Rejects with `option-invalid` for a transport that does not lead to a server at an address. Does not reject if no
 * server answers: playing reports that.
 */
export async function reachServer(
  target: Target,
  asked: Transport | undefined,
): Promise<{ target: Target; transport: Transport }> {
  const given: Target | HttpTarget = typeof target === 'string' ? { url: target } : target
  const isAddress = 'url' in given
  if (asked !== undefined && isAddress !== (asked === 'http' || asked === 'websocket'))
    throw invalidOption(
      isAddress
        ? `A server at an address is reached over websocket or http, not ${asked}. Give one of these, or leave --transport out.`
        : `A server that is a command is reached over its pipe, not ${asked}. Leave --transport out.`,
    )
  if (!isAddress) return { target, transport: 'stdio' }
  const overHttp = { ...given, url: given.url.replace(/^ws/, 'http') }
  const overWebSocket = { ...given, url: given.url.replace(/^http/, 'ws') }
  const transport = asked ?? (/^ws/.test(given.url) || (await accepts(overWebSocket)) ? 'websocket' : 'http')
  return { target: transport === 'http' ? overHttp : overWebSocket, transport }
}

/** Whether a server can be played over a WebSocket. A proxy before it may let none through. */
async function accepts(target: HttpTarget): Promise<boolean> {
  try {
    await using _connection = await connect(target, { signal: AbortSignal.timeout(HANDSHAKE_TIMEOUT) })
    return true
  } catch {
    return false
  }
}
