import { Agent, request } from 'undici'
import { RolloutError } from './rollout.ts'

/** A response whose headers have arrived. */
export interface TrainerReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Reads its body as it comes. Throws `payload-cut` if it ends too early. */
  readonly chunks: () => AsyncGenerator<string, void, undefined>
  /** Reads its whole body. Rejects with `payload-cut` if it ends too early. */
  readonly text: () => Promise<string>
}

/** Connections are kept and reused, as by the HTTP clients of Python. A silent server is a mistake, not a fault. */
const agent = new Agent({ connections: 256, headersTimeout: 60_000, bodyTimeout: 60_000 })

/** Sends a request once. Rejects with `connection-lost` if no response begins. */
export async function send(
  url: string,
  { method = 'POST', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: unknown },
): Promise<TrainerReply> {
  const {
    statusCode,
    headers: answered,
    body: stream,
  } = await request(url, {
    dispatcher: agent,
    method: method as 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error) => {
    throw brokenBy(error, 'connection-lost')
  })
  // A client that needs only the headers does not notice a body that is cut.
  stream.on('error', () => {})
  async function* chunks() {
    try {
      for await (const chunk of stream.setEncoding('utf8')) yield String(chunk)
    } catch (error) {
      throw brokenBy(error, 'payload-cut')
    }
  }
  return {
    status: statusCode,
    headers: answered,
    chunks,
    async text() {
      let text = ''
      for await (const chunk of chunks()) text += chunk
      return text
    },
  }
}

/** Whether a client may have the same request answered by sending it again. */
export function isBroken(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof RolloutError && codes.includes(error.code)
}

function brokenBy(error: unknown, code: string): unknown {
  const { code: cause, message } = error as Error & { readonly code?: string }
  return cause?.includes('TIMEOUT') ? error : new RolloutError(code, message)
}
