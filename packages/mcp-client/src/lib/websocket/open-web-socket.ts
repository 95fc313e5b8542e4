import type { OpenWire } from './wire.ts'

/** The WebSocket subprotocol of our servers. */
export const PROTOCOL = 'episodic'

export interface WebSocketServer {
  readonly url: string
  readonly token?: string | null | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The WebSocket subprotocol; `null` for none. */
  readonly protocol: string | null
}

/** Returns how to connect to a server over a WebSocket. Its code, which needs Node, is loaded only here. */
export async function webSocketWire({ url, token, headers, protocol }: WebSocketServer): Promise<OpenWire> {
  const { openNodeWebSocketWire } = await import('./node-websocket-wire.ts')
  return openNodeWebSocketWire(url, { ...headers, ...(token && { authorization: `Bearer ${token}` }) }, protocol)
}
