import type { IncomingMessage } from 'node:http'

/** Bytes that a request may bring. */
const LIMIT = 10_000

/** Reads the body of a request as text. Rejects where it is longer than anything that these sites ask for. */
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
