import type { Server, Socket } from 'node:net'

/** Seconds that a client may take to send the head of a request, to send all of it, and to take its answer. */
export const TIMEOUTS = { head: 5, request: 10, answer: 8 } as const

/** Seconds that an idle connection is kept. */
export const KEEP_ALIVE = 65

interface Owed {
  /** Bytes that were written to it when this was noted. */
  readonly written: number
  /** Seconds since then. */
  readonly seconds: number
}

/**
 * Ends the connections of clients that do not read their answers: `node:http` limits how long a request may take to
 * arrive, but not how long an answer stays unread.
 *
 * Checks once a second, and adds nothing to a call. A client that has not read within the timeout the bytes that were
 * pending at its start is disconnected. Stops when the server closes.
 */
export function shedSlowReaders(server: Server): void {
  const sockets = new Set<Socket>()
  const owed = new WeakMap<Socket, Owed>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const timer = setInterval(() => {
    for (const socket of sockets) {
      const { bytesWritten: written, writableLength } = socket
      const before = owed.get(socket)
      if (writableLength === 0) owed.delete(socket)
      else if (before === undefined || written - writableLength >= before.written)
        owed.set(socket, { written, seconds: 0 })
      else if (before.seconds + 1 >= TIMEOUTS.answer) socket.resetAndDestroy()
      else owed.set(socket, { written: before.written, seconds: before.seconds + 1 })
    }
  }, 1_000)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}
