import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import { failureDetails } from '../http/http-failure.ts'
import { McpError } from '../mcp-error.ts'
import type { OpenWire, WireClosing } from './wire.ts'

/** The most bytes of a message from a server. */
const LONGEST = 64 * 1_048_576
/** Milliseconds until a connection attempt fails. */
const CONNECT_TIMEOUT = 30_000

/** Opens a WebSocket in Node, which combines writes and reports the status of a rejected handshake. */
export function openNodeWebSocketWire(
  url: string,
  headers: Readonly<Record<string, string>>,
  protocol: string | null,
): OpenWire {
  return ({ onMessage, onClose }) =>
    new Promise((resolve, reject) => {
      const webSocket = new WebSocket(url, protocol === null ? [] : [protocol], {
        headers,
        handshakeTimeout: CONNECT_TIMEOUT,
        maxPayload: LONGEST,
        perMessageDeflate: false,
        followRedirects: false,
      })
      let socket: Socket
      let connected = false
      let failure: { readonly reason: string; readonly details?: ReturnType<typeof failureDetails> } | null = null
      webSocket.on('upgrade', (response) => {
        socket = response.socket
      })
      webSocket.on('open', () => {
        connected = true
        resolve({
          send(messages) {
            // One write for all messages.
            socket.cork()
            for (const message of messages) webSocket.send(message)
            socket.uncork()
          },
          close: () => webSocket.close(),
        })
      })
      webSocket.on('unexpected-response', (_, response) => {
        const status = response.statusCode ?? 0
        failure = {
          reason: `it answered with HTTP status ${status}.`,
          details: failureDetails(status, Number(response.headers['retry-after']) || 0),
        }
        webSocket.terminate()
      })
      webSocket.on('message', (data: Buffer) => onMessage(data.toString()))
      webSocket.on('error', ({ message }) => {
        failure ??= { reason: message }
      })
      webSocket.on('close', (code, reason) => {
        if (connected) return onClose(closingOf(url, code, reason.toString()))
        const { reason: why = 'it hung up.', details } = failure ?? {}
        reject(new McpError('lost', `Cannot connect to ${url}: ${why}`, details && { details }))
      })
    })
}

/** Returns the reason of a close, from its code (RFC 6455, section 7.4.1). */
function closingOf(url: string, code: number, reason: string): WireClosing {
  const error = new McpError('lost', `The connection to ${url} is lost: ${reason || 'it was closed'} (${code}).`)
  return { error, tooLarge: code === 1009 }
}
