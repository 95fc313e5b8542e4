import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Problem } from './problem.ts'

/** Rejects an upgrade to a WebSocket with an HTTP response, and closes the connection. */
export function rejectUpgrade(stream: Duplex, { status, code, message }: Problem): void {
  const body = JSON.stringify({ detail: message, code })
  const challenge = status === 401 ? 'WWW-Authenticate: Bearer\r\n' : ''
  const retry = status === 503 ? 'Retry-After: 1\r\n' : ''
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n${challenge}${retry}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => stream.destroy(),
  )
}
