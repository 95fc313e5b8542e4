import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, unzip } from 'node:zlib'

/** Resolves with the body of a request, or with `null` if it is too large. */
export async function readBody(incoming: IncomingMessage, largest: number): Promise<Buffer | null> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of incoming) {
    bytes += part.length
    // The rest is read, since a program that still sends would not see the answer.
    if (bytes <= largest) parts.push(part)
    else parts.length = 0
  }
  return bytes <= largest ? Buffer.concat(parts) : null
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
