import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * What a server can know about an answer that it sent.
 *
 * - `lost`: its connection closed before the last byte left.
 * - `read`: a later request came over the same connection, which a client sends only after it has read the answer.
 * - `waiting`: it was written, and the connection is still open.
 * - `cut`: it was written, and the connection closed after it. The client may have read it or not.
 */
export type Delivery = 'lost' | 'read' | 'waiting' | 'cut'

const requests = new WeakMap<Socket, number>()

/** Counts a request. Has to be called for every request of a server, before it is answered. */
export function countRequest(socket: Socket): void {
  requests.set(socket, (requests.get(socket) ?? 0) + 1)
}

/** Watches what becomes of an answer. The returned function says what is known of it now. */
export function watchDelivery(response: ServerResponse): () => Delivery {
  const { socket } = response.req
  const ordinal = requests.get(socket)
  let closedEarly = response.destroyed && !response.writableFinished
  response.once('close', () => {
    closedEarly = !response.writableFinished
  })
  return () => {
    if (closedEarly) return 'lost'
    if (requests.get(socket) !== ordinal) return 'read'
    return socket.destroyed ? 'cut' : 'waiting'
  }
}
