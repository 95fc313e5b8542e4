/**
 * The settings that every `WebSocketServer` of an HTTP server here has: no port of its own, no list of clients, no
 * compression, and two seconds for a client to answer a close.
 */
export const WEB_SOCKET_SETTINGS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxFragments: 1_024,
  closeTimeout: 2_000,
} as const

/**
 * Milliseconds between two checks of every socket. A client that is silent that long has to answer a ping before the
 * next check.
 */
export const SOCKET_HEART_BEAT = 15_000
