import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Server as NetServer, Socket } from 'node:net'

/** Requests of one connection that are accepted in one turn of the event loop. */
const TAKEN = 64
/** Waiting requests of one connection at which reading from it pauses. */
const WAITING = 8

interface Pipeline {
  current: ServerResponse
  /** Start the other responses, in the order of their requests. */
  readonly waiting: (readonly [ServerResponse, () => void])[]
}

/**
 * Answers the requests of a connection one after another: each starts once the previous answer is handed to the
 * operating system.
 *
 * `node:http` starts every request that it has read, and buffers the answers for a client that does not read them: 64
 * short requests in one packet make a server produce 64 long answers in one turn, and hold them. Answers are sent in
 * order in any case, so no client receives one later. A connection with more than 64 requests in one turn is closed.
 */
export class Pipelines {
  readonly #taken = new Map<Socket, number>()
  readonly #pipelines = new WeakMap<Socket, Pipeline>()

  /** Calls `begin` when it is the request's turn; never if its connection is gone by then. */
  take(response: ServerResponse, socket: Socket, begin: () => void): void {
    if (this.#exceeds(socket)) {
      socket.destroy()
      return
    }
    response.once('close', () => this.#goOn(socket))
    const pipeline = this.#pipelines.get(socket)
    if (!pipeline) {
      this.#pipelines.set(socket, { current: response, waiting: [] })
      begin()
      return
    }
    pipeline.waiting.push([response, begin])
    if (pipeline.waiting.length >= WAITING) socket.pause()
  }

  currentOf(socket: Socket): ServerResponse | undefined {
    return this.#pipelines.get(socket)?.current
  }

  #goOn(socket: Socket): void {
    const pipeline = this.#pipelines.get(socket)
    const next = socket.destroyed ? undefined : pipeline?.waiting.shift()
    if (!pipeline || !next) {
      this.#pipelines.delete(socket)
      return
    }
    const [response, begin] = next
    pipeline.current = response
    if (pipeline.waiting.length < WAITING) socket.resume()
    begin()
  }

  #exceeds(socket: Socket): boolean {
    const taken = (this.#taken.get(socket) ?? 0) + 1
    if (taken === 1 && this.#taken.size === 0) setImmediate(() => this.#taken.clear())
    this.#taken.set(socket, taken)
    return taken > TAKEN
  }
}

/** Connections past their timeout that are ended in one turn of the event loop. */
const ENDED = 64

/**
 * Ends connections whose request is malformed or did not arrive in time, with the answers of `node:http`, a few in each
 * turn. Thousands of connections that opened together also time out together, and `node:http` would end all of them in
 * one turn.
 */
export function answerRequestErrors(server: Server, pipelines: Pipelines): void {
  const late: Socket[] = []
  const endSome = (): void => {
    for (const socket of late.splice(0, ENDED)) reject(socket, 408)
    if (late.length > 0) setImmediate(endSome)
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return reject(socket as Socket, statusOf(error))
    if (late.push(socket as Socket) === 1) setImmediate(endSome)
  })

  function reject(socket: Socket, status: number): void {
    // In the middle of an answer, the client would read this as a part of it.
    if (socket.writable && !pipelines.currentOf(socket)?.headersSent)
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`)
    socket.destroySoon()
  }
}

function statusOf({ code }: NodeJS.ErrnoException): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW' ? 413 : 400
}

/** Connections that are looked at, at most, to find one that makes room for another. */
const LOOKED_AT = 256

const proved = new WeakSet<Socket>()

/** Notes that the client of a connection has sent a valid token: the connection makes room for no other one. */
export function keepPlace(socket: Socket): void {
  proved.add(socket)
}

export interface PlacesOptions {
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
export function boundConnections(server: NetServer, { most, isBusy, onRejected }: PlacesOptions): void {
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
