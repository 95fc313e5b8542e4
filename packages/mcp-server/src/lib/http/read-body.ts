import type { IncomingMessage } from 'node:http'
import { WireError } from '@episodic/protocol'
import { GatheredBytes, utf8 } from '../transport/byte-buffer.ts'
import type { HttpRequest } from './fast-path/connection.ts'

/** Most pieces of a body, and their bytes on average. Each costs a microsecond; only hostile clients send many. */
const MAX_PIECES = 4_096
const PIECE_BYTES = 1_024

/** Bytes of bodies that clients without a token have sent in part, of all clients in this process. */
const MOST_UNKNOWN = 134_217_728
let unknown = 0

/**
 * Reads the body of a request as text, holding at most `limit` bytes of it.
 *
 * Rejects with `too-large` at the first byte over the limit, whatever length was announced, and with `invalid-request`
 * if the client goes away or the body is not UTF-8. Closes the connection after too many pieces. Reads and discards the
 * bytes past the limit, until the request times out, so that a client that is still sending receives the answer.
 *
 * @param isKnown - Whether the client has a token. Of the others, all bodies that arrive have a bound too: rejects with
 *   `capacity` beyond it.
 */
export function readBody(request: HttpRequest, limit: number, isKnown = true): string | Promise<string> {
  if (!('body' in request)) return gatherBody(request, limit, isKnown)
  if (request.body.length > limit) throw tooLarge(limit)
  try {
    return utf8.decode(request.body)
  } catch (cause) {
    throw notText(cause)
  }
}

function gatherBody(request: IncomingMessage, limit: number, isKnown: boolean): Promise<string> {
  let counted = 0
  const reading = new Promise<string>((resolve, reject) => {
    const body = new GatheredBytes()
    let pieces = 0
    const overflow = (error = tooLarge(limit)) => {
      body.clear()
      request.removeAllListeners('data').resume()
      reject(error)
    }
    const notWhole = (cause?: unknown) =>
      reject(new WireError('invalid-request', 'The body did not arrive whole.', { cause }))
    // A request that is destroyed already emits no further event.
    if (request.destroyed) return notWhole()
    if (Number(request.headers['content-length'] ?? 0) > limit) return overflow()
    request.on('data', (chunk: Buffer) => {
      if (body.length + chunk.length > limit) return overflow()
      if (!isKnown) {
        counted += chunk.length
        unknown += chunk.length
        if (unknown > MOST_UNKNOWN) return overflow(tooMany())
      }
      if (++pieces > MAX_PIECES + body.length / PIECE_BYTES) return void request.destroy()
      body.add(chunk)
    })
    request.on('end', () => {
      try {
        resolve(body.takeText())
      } catch (cause) {
        reject(notText(cause))
      }
    })
    request.on('error', notWhole)
  })
  return reading.finally(() => {
    unknown -= counted
  })
}

function tooMany(): WireError {
  return new WireError('capacity', 'Too many bodies arrive at once. Try again.', { details: { retryAfterSeconds: 1 } })
}

function tooLarge(limit: number): WireError {
  return new WireError('too-large', `The body is larger than the limit of ${limit} bytes.`, { details: { limit } })
}

function notText(cause: unknown): WireError {
  return new WireError('invalid-request', 'The body is not UTF-8.', { cause })
}
