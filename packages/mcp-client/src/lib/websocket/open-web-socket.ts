import { openWebSocketWire } from './websocket-wire.ts'
import type { OpenWire } from './wire.ts'

/** A server that a WebSocket connects to. */
export interface WebSocketServer {
  readonly url: string
  readonly token?: string | null | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The WebSocket subprotocol; `null` for none. */
  readonly protocol: string | null
}

/** Returns how to connect to a server over a WebSocket. Code for Node is loaded only there. */
export async function webSocketWire({ url, token, headers, protocol }: WebSocketServer): Promise<OpenWire> {
  if (!isNode) return openWebSocketWire(url, token ?? undefined, protocol)
  const { openNodeWebSocketWire } = await import('./node-websocket-wire.ts')
  return openNodeWebSocketWire(url, { ...headers, ...(token && { authorization: `Bearer ${token}` }) }, protocol)
}

const isNode = globalThis.process?.versions?.node !== undefined
