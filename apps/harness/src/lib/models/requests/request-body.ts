import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, unzip } from 'node:zlib'
import type { HttpRequest } from '@episodic/mcp-server/http'
import { type HeldBytes, SMALL } from './held-bytes.ts'

/** The body of a request. Its bytes are held until it is disposed. */
export interface ReceivedBody extends Disposable {
  /** As it came; `null` if it is too large. */
  readonly raw: Buffer | null
  /** As it was before it was compressed; `null` if it is too large then, or cannot be read. */
  readonly plain: Buffer | null
}

/**
 * Receives the body of a request within what may be held. One without a length, or which is compressed, counts as the
 * largest until it is read. Rejects if it breaks off.
 */
export async function receiveBody(request: HttpRequest, largest: number, held: HeldBytes): Promise<ReceivedBody> {
  const { 'content-encoding': encoding, 'content-length': length = 0 } = request.headers
  const isPlain = encoding === undefined || IDENTITY.test(encoding)
  let part = await held.take(isPlain ? Math.min(Number(length), largest) : largest)
  let growing: Promise<void> | undefined
  const grow = (): Promise<void> => {
    growing = held.take(largest).then((larger) => {
      part[Symbol.dispose]()
      part = larger
    })
    return growing
  }
  try {
    const isAnnounced = !isPlain || Number(length) > SMALL
    const raw = 'body' in request ? request.body : await readBody(request, largest, isAnnounced ? null : grow)
    const plain = raw && (isPlain ? raw : await decompressed(raw, encoding, largest))
    part.shrink((raw?.length ?? 0) + (isPlain ? 0 : (plain?.length ?? 0)))
    return { raw, plain, [Symbol.dispose]: () => part[Symbol.dispose]() }
  } catch (error) {
    await growing
    part[Symbol.dispose]()
    throw error
  }
}

/**
 * Resolves with the body of a message, or with `null` if it is too large. Rejects if it breaks off. The rest of one
 * that is too large is read all the same, since a program that still sends would not see the answer.
 *
 * @param grow - Is called once if the body has more than {@link SMALL} bytes: no more is read until it resolves.
 */
export function readBody(
  message: IncomingMessage,
  largest: number,
  grow: (() => Promise<void>) | null = null,
): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0
    let mayGrow = grow
    const brokeOff = () => reject(new Error('The message broke off.'))
    if (message.destroyed && !message.readableEnded) return brokeOff()
    message.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes <= largest) parts.push(part)
      else parts.length = 0
      if (bytes <= SMALL || !mayGrow) return
      message.pause()
      void mayGrow().then(() => message.resume())
      mayGrow = null
    })
    message.on('end', () => resolve(bytes <= largest ? Buffer.concat(parts) : null))
    message.on('error', reject)
    // An error, with where it was made, takes a part of the time of a whole call.
    message.on('close', () => message.readableEnded || brokeOff())
  })
}

const IDENTITY = /^identity$/i

async function decompressed(body: Buffer, encoding = '', largest: number): Promise<Buffer | null> {
  const limit = { maxOutputLength: largest }
  try {
    if (/^br$/i.test(encoding)) return await promisify(brotliDecompress)(body, limit)
    return /^(gzip|x-gzip|deflate)$/i.test(encoding) ? await promisify(unzip)(body, limit) : null
  } catch {
    return null
  }
}
