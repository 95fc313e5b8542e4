import type { IncomingMessage } from 'node:http'
import { WireError } from '@episodic/protocol'

/**
 * Reads the body of a request as text, holding at most `limit` bytes of it.
 *
 * Rejects with `too-large` at the first byte over the limit, whatever length was announced, and with
 * `invalid-request` where the client goes away or sends what is not UTF-8. What follows the limit is thrown away as it
 * comes, for as long as a request may take, so that a client in the middle of sending still hears why.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let length = 0
    const tooLarge = () => {
      chunks = []
      request.removeAllListeners('data').resume()
      reject(new WireError('too-large', `The body is larger than the limit of ${limit} bytes.`, { details: { limit } }))
    }
    if (Number(request.headers['content-length'] ?? 0) > limit) return tooLarge()
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) return tooLarge()
      chunks.push(chunk)
    })
    request.on('end', () => {
      try {
        resolve(utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
      } catch (cause) {
        reject(new WireError('invalid-request', 'The body is not UTF-8.', { cause }))
      }
    })
    request.on('error', (cause) =>
      reject(new WireError('invalid-request', 'The body did not arrive whole.', { cause })),
    )
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
