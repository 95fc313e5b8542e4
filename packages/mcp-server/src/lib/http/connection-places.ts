import type { Server, Socket } from 'node:net'

/** Connections that are looked at, at most, to find one that makes room for another. */
const LOOKED_AT = 256

/** Connections whose clients have sent a valid token. */
const proved = new WeakSet<Socket>()

/** Notes that the client of a connection has sent a valid token: the connection makes room for no other one. */
export function keepPlace(socket: Socket): void {
  proved.add(socket)
}

export interface PlacesOptions {
  /** Connections at once. */
  readonly most: number
  /** Whether a request of a connection is being answered, or it is a WebSocket. */
  readonly isBusy: (socket: Socket) => boolean
  /** Is called with every connection that was closed before it was read, because there were too many. */
  readonly onRejected: () => void
}

/**
 * Bounds the connections of a server, so that clients without a token cannot take all of them: above the bound, a new
 * connection takes the place of an older one of a client that has sent no valid token, and is closed unread only if
 * there is none. One that waits for no answer goes first; busy ones go as long as they have more than half of all
 * places.
 */
export function boundConnections(server: Server, { most, isBusy, onRejected }: PlacesOptions): void {
  let count = 0
  /** Connections that may have to make room, those that were found busy last. */
  const yielding = new Set<Socket>()
  /** Those that have made room, until they are closed. */
  const leaving = new WeakSet<Socket>()
  const later = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (count >= most && !makeRoom()) {
      socket.destroy()
      onRejected()
      return
    }
    count += 1
    yielding.add(socket)
    socket.once('close', () => {
      if (!leaving.delete(socket)) count -= 1
      yielding.delete(socket)
    })
    for (const listener of later) listener.call(server, socket)
  })

  function makeRoom(): boolean {
    let busy: Socket | undefined
    let left = LOOKED_AT
    for (const socket of yielding) {
      if (left-- === 0 || socket === busy) break
      yielding.delete(socket)
      if (proved.has(socket)) continue
      if (!isBusy(socket)) return close(socket)
      busy ??= socket
      yielding.add(socket)
    }
    return busy !== undefined && yielding.size > most / 2 && close(busy)
  }

  function close(socket: Socket): true {
    yielding.delete(socket)
    leaving.add(socket)
    count -= 1
    socket.destroy()
    return true
  }
}
