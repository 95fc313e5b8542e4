import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Pipelines } from './pipelining-limit.ts'

/** Connections whose time is up that are ended in one turn of the event loop. */
const ENDED = 64

/**
 * Ends connections whose request is wrong, or did not arrive in time, with the answers of `node:http`, and a few in each turn:
 * of thousands that began together the time is up together too, and `node:http` alone ends all of them in one turn.
 */
export function answerRequestErrors(server: Server, pipelines: Pipelines): void {
  const late: Socket[] = []
  const endSome = (): void => {
    for (const socket of late.splice(0, ENDED)) refuse(socket, 408)
    if (late.length > 0) setImmediate(endSome)
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return refuse(socket as Socket, statusOf(error))
    if (late.push(socket as Socket) === 1) setImmediate(endSome)
  })

  function refuse(socket: Socket, status: number): void {
    // In the middle of an answer, this would be read as a part of it.
    if (socket.writable && !pipelines.currentOf(socket)?.headersSent)
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`)
    socket.destroySoon()
  }
}

function statusOf({ code }: NodeJS.ErrnoException): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW' ? 413 : 400
}
