import type { IncomingMessage } from 'node:http'
import { WireError } from '@episodic/protocol'
import { decodeText, GatheredBytes } from '../transport/byte-buffer.ts'
import type { HttpRequest } from './message.ts'

/**
 * In how many pieces a body may come. Each costs a microsecond, whatever is in it; a client that sends chunks of a byte
 * is up to no good.
 */
const MAX_PIECES = 4_096

/**
 * Reads the body of a request as text, holding at most `limit` bytes of it.
 *
 * Rejects with `too-large` at the first byte over the limit, whatever length was announced, and with
 * `invalid-request` where the client goes away or sends what is not UTF-8. Hangs up on one that sends crumbs. What follows the limit is thrown away as it
 * comes, for as long as a request may take, so that a client in the middle of sending still hears why.
 */
export function readBody(request: HttpRequest, limit: number): string | Promise<string> {
  if (!('body' in request)) return gatherBody(request, limit)
  if (request.body.length > limit) throw tooLarge(limit)
  try {
    return decodeText(request.body)
  } catch (cause) {
    throw notText(cause)
  }
}

function gatherBody(request: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const body = new GatheredBytes()
    let pieces = 0
    const overflow = () => {
      body.clear()
      request.removeAllListeners('data').resume()
      reject(tooLarge(limit))
    }
    const notWhole = (cause?: unknown) =>
      reject(new WireError('invalid-request', 'The body did not arrive whole.', { cause }))
    // Who is gone before anybody looked is not heard of again.
    if (request.destroyed) return notWhole()
    if (Number(request.headers['content-length'] ?? 0) > limit) return overflow()
    request.on('data', (chunk: Buffer) => {
      if (body.length + chunk.length > limit) return overflow()
      if (++pieces > MAX_PIECES) return void request.destroy()
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
}

function tooLarge(limit: number): WireError {
  return new WireError('too-large', `The body is larger than the limit of ${limit} bytes.`, { details: { limit } })
}

function notText(cause: unknown): WireError {
  return new WireError('invalid-request', 'The body is not UTF-8.', { cause })
}
