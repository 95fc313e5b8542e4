import type { OpenWire } from './wire.ts'

export const PROTOCOL = 'episodic'

export interface WebSocketServer {
  readonly url: string
  readonly token?: string | null | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly protocol: string | null
}

/** Returns how to connect to a server over a WebSocket. Its code, which needs Node, is loaded only here. */
export async function webSocketWire({ url, token, headers, protocol }: WebSocketServer): Promise<OpenWire> {
  const { openNodeWebSocketWire } = await import('./node-websocket-wire.ts')
  return openNodeWebSocketWire(url, { ...headers, ...(token && { authorization: `Bearer ${token}` }) }, protocol)
}
