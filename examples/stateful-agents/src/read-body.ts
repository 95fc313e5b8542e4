import type { IncomingMessage } from 'node:http'

/** The longest body of a request, in bytes. */
const LIMIT = 10_000

/** Reads the body of a request as text. Rejects if it is too long. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LIMIT) throw new Error(`A body has at most ${LIMIT} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
