import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { HarnessError } from '@episodic/run/base/harness-error'
import { HttpProblem } from '../http-problem.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: URLSearchParams
  /** The parts of the path that the route leaves open, decoded. */
  readonly parts: Readonly<Record<string, string>>
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
}

/** Headers of every answer: no other page may read it, frame it, or guess its type. */
const COMMON_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const
const MOST_BODY = 1024 ** 2
const gzipped = promisify(gzip)

export function begin(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void {
  response.writeHead(status, { ...COMMON_HEADERS, ...headers })
}

export function answerJson({ response }: Pick<Exchange, 'response'>, value: unknown, status = 200): void {
  const body = Buffer.from(JSON.stringify(value))
  begin(response, status, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}

export async function answerBytes({ request, response }: Exchange, bytes: Uint8Array): Promise<void> {
  const compresses = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  const body = compresses ? await gzipped(bytes, { level: 1 }) : bytes
  begin(response, 200, {
    'content-type': 'application/octet-stream',
    'content-length': body.length,
    vary: 'accept-encoding',
    ...(compresses && { 'content-encoding': 'gzip' }),
  })
  response.end(body)
}

export function answerPage({ response }: Pick<Exchange, 'response'>, page: string, policy: string): void {
  begin(response, 200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
  response.end(page)
}

/** Answers with what went wrong. An answer that has begun is cut off. */
export function answerError({ response }: Pick<Exchange, 'response'>, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { message } = error as Error
  if (error instanceof HttpProblem) answerJson({ response }, { error: { code: error.code, message } }, error.status)
  else if (HarnessError.is(error)) answerJson({ response }, { error: { code: error.code, message } }, 422)
  else answerJson({ response }, { error: { code: 'failed', message } }, 500)
}

/**
 * Reads a body of JSON. Rejects with `invalid` or `too-large`.
 *
 * @param most - bytes.
 */
export async function readJson(request: IncomingMessage, most = MOST_BODY): Promise<unknown> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    throw new HttpProblem('invalid', 'Send a body of application/json.')
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > most) throw new HttpProblem('too-large', `A body has at most ${most} bytes.`)
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    throw new HttpProblem('invalid', `The body is not JSON: ${(cause as Error).message}`)
  }
}
