import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, unzip } from 'node:zlib'
import { type JsonBounds, parseBounded } from '../dispatch/json-bounds.ts'
import type { HttpRequest } from './fast-path/connection.ts'

/** Bytes of a body up to which it is held at once: hundreds of these cost little. */
const SMALL = 1_048_576

/** Milliseconds in which a body has to arrive once its bytes are held: others may wait for them. */
const ARRIVES_WITHIN = 30_000

/** The body of a request. Its bytes are held until it is disposed. */
export interface ReceivedBody extends Disposable {
  /** As it came; `null` if it is too large. */
  readonly raw: Buffer | null
  /** As it was before it was compressed; `null` if it is too large then, or cannot be read. */
  readonly plain: Buffer | null
  parse(bounds: JsonBounds): unknown
}

/** A part of the bytes that may be held. Disposing lets go of it. */
export interface HeldPart extends Disposable {
  /** Lets go of what is beyond so many bytes. */
  shrink(bytes: number): void
}

/** Bounds the bytes of large bodies that are held at once. Others wait, unread. */
export class HeldBytes {
  readonly #most: number
  readonly #all: HeldBytes | null
  readonly #waiting: (() => void)[] = []
  #held = 0

  /** @param all - Bounds more than this one does, and these bytes too. Default: none does. */
  constructor(most: number, all: HeldBytes | null = null) {
    this.#most = most
    this.#all = all
  }

  /** Resolves when there is room for a body, with what lets go of it. A body alone always has room. */
  async take(bytes: number): Promise<HeldPart> {
    let size = sizeOf(bytes)
    while (size > 0 && this.#held > 0 && this.#held + size > this.#most)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#held += size
    const ofAll = await this.#all?.take(bytes)
    const shrink = (to: number) => {
      ofAll?.shrink(to)
      const left = Math.min(size, sizeOf(to))
      this.#held -= size - left
      size = left
      for (const go of this.#waiting.splice(0)) go()
    }
    return { shrink, [Symbol.dispose]: () => shrink(0) }
  }

  /** Receives a request's body. Without a known length it counts as the largest. Rejects if broken off or late. */
  receive(request: HttpRequest, largest: number): Promise<ReceivedBody> {
    return receiveBody(request, largest, this)
  }
}

function sizeOf(bytes: number): number {
  return bytes <= SMALL ? 0 : bytes
}

async function receiveBody(request: HttpRequest, largest: number, held: HeldBytes): Promise<ReceivedBody> {
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
    const raw = 'body' in request ? request.body : await readInTime(request, largest, isAnnounced ? null : grow)
    const plain = raw && (isPlain ? raw : await decompressed(raw, encoding, largest))
    part.shrink((raw?.length ?? 0) + (isPlain ? 0 : (plain?.length ?? 0)))
    return {
      raw,
      plain,
      parse: (bounds) => parseBounded(plain?.toString() ?? '', 'request', bounds),
      [Symbol.dispose]: () => part[Symbol.dispose](),
    }
  } catch (error) {
    await growing
    part[Symbol.dispose]()
    throw error
  }
}

async function readInTime(request: IncomingMessage, largest: number, grow: Grow | null): Promise<Buffer | null> {
  let late = setTimeout(() => request.destroy(), ARRIVES_WITHIN)
  const again = async () => {
    clearTimeout(late)
    await grow?.()
    late = setTimeout(() => request.destroy(), ARRIVES_WITHIN)
  }
  try {
    return await readBody(request, largest, grow && again)
  } finally {
    clearTimeout(late)
  }
}

type Grow = () => Promise<void>

/**
 * Resolves with the body of a message, or with `null` if it is too large. Rejects if it breaks off. The rest of one
 * that is too large is read all the same, since a program that still sends would not see the answer.
 *
 * @param grow - Is called once if the body has more than {@link SMALL} bytes: no more is read until it resolves.
 */
function readBody(message: IncomingMessage, largest: number, grow: Grow | null = null): Promise<Buffer | null> {
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
