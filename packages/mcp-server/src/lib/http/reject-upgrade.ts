import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { bearerOf, type Denial } from './host-origin-check.ts'

/** How a page says its token, which may not set a header: percent-encoded, as one of the subprotocols that it offers. */
const BEARER_PROTOCOL = 'episodic.bearer.'

/** The token in the header, or the one that a page sends among its subprotocols; empty where there is none. */
export function tokenOf(request: IncomingMessage): string {
  const offered = request.headers['sec-websocket-protocol']?.split(',') ?? []
  const protocol = offered.map((name) => name.trim()).find((name) => name.startsWith(BEARER_PROTOCOL))
  try {
    return bearerOf(request) || decodeURIComponent(protocol?.slice(BEARER_PROTOCOL.length) ?? '')
  } catch {
    return ''
  }
}

/** Tells in HTTP why a connection becomes no WebSocket, and hangs up. */
export function refuseUpgrade(socket: Duplex, { status, message }: Denial): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } })
  const retry = status === 503 ? 'Retry-After: 1\r\n' : ''
  const challenge = status === 401 ? 'WWW-Authenticate: Bearer\r\n' : ''
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n${retry}${challenge}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
