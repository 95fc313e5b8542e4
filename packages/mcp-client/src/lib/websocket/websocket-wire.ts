import { McpError } from '../mcp-error.ts'
import type { OpenWire, WireClosing } from './wire.ts'

/** The WebSocket subprotocol of our servers, and the prefix of the one that carries a token, for lack of headers. */
export const PROTOCOL = 'episodic'
const BEARER_PROTOCOL = 'episodic.bearer.'

/**
 * Opens a connection over the WebSocket of a browser, which cannot set headers and does not report why it was rejected.
 * A token is sent as a subprotocol of our servers.
 */
export function openWebSocketWire(url: string, token: string | undefined, protocol: string | null): OpenWire {
  return ({ onMessage, onClose }) =>
    new Promise((resolve, reject) => {
      const bearer = token === undefined ? [] : [`${BEARER_PROTOCOL}${encodeURIComponent(token)}`]
      const socket = new WebSocket(url, protocol === null ? [] : [protocol, ...bearer])
      let connected = false
      socket.onopen = () => {
        connected = true
        resolve({
          send(messages) {
            for (const message of messages) socket.send(message)
          },
          close: () => socket.close(),
        })
      }
      socket.onmessage = ({ data }) => onMessage(String(data))
      socket.onclose = ({ code, reason }) => {
        if (connected) onClose(closingOf(url, code, reason))
        else reject(new McpError('lost', `Cannot connect to ${url}: it does not let a WebSocket in.`))
      }
    })
}

/** Returns the reason of a close, from its code (RFC 6455, section 7.4.1). */
export function closingOf(url: string, code: number, reason: string): WireClosing {
  const error = new McpError('lost', `The connection to ${url} is lost: ${reason || 'it was closed'} (${code}).`)
  return { error, tooLarge: code === 1009 }
}
