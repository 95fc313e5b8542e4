import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, unzip } from 'node:zlib'

/**
 * Resolves with the body of a message, or with `null` if it is too large. Rejects if it breaks off. The rest of one
 * that is too large is read all the same, since a program that still sends would not see the answer.
 */
export function readBody(message: IncomingMessage, largest: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0
    message.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes <= largest) parts.push(part)
      else parts.length = 0
    })
    message.on('end', () => resolve(bytes <= largest ? Buffer.concat(parts) : null))
    message.on('error', reject)
    // An error, with where it was made, takes a part of the time of a whole call.
    message.on('close', () => message.readableEnded || reject(new Error('The message broke off.')))
  })
}

/**
 * Resolves with a body as it was before it was compressed, or with `null` if it is too large then or cannot be read.
 */
export async function decompressed(body: Buffer, encoding = 'identity', largest: number): Promise<Buffer | null> {
  const limit = { maxOutputLength: largest }
  try {
    if (/^identity$/i.test(encoding)) return body
    if (/^br$/i.test(encoding)) return await promisify(brotliDecompress)(body, limit)
    return /^(gzip|x-gzip|deflate)$/i.test(encoding) ? await promisify(unzip)(body, limit) : null
  } catch {
    return null
  }
}
