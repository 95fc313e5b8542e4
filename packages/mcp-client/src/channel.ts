/**
 * Channels to any kind of target, WebSockets included.
 *
 * @module
 */

export { disconnectPreservingSessions, openChannel, type Target } from './lib/open-channel.ts'
export { webSocketWire } from './lib/websocket/open-web-socket.ts'
export type { Wire } from './lib/websocket/wire.ts'
