import { once } from 'node:events'
import { METHODS, type OpenParams, type OpenResult } from '@episodic/protocol'
import { onTestFinished } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import type { OpenRequest } from './host.ts'
import { asking } from './testbed.fixture.ts'

/** An answer as JSON. */
interface Answer {
  readonly id: string | number | null
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data: Record<string, unknown> }
}

/** Opens a WebSocket for the length of the test. */
export async function openWebSocket(
  url: string,
  { protocols = [], ...options }: ClientOptions & { protocols?: string[] } = {},
) {
  const webSocket = new WebSocket(url.replace(/^http/, 'ws'), protocols, options)
  onTestFinished(() => webSocket.terminate())
  const answers: Answer[] = []
  let heard = Promise.withResolvers<void>()
  webSocket.on('message', (data) => {
    answers.push(JSON.parse(String(data)))
    heard.resolve()
    heard = Promise.withResolvers<void>()
  })
  const closed = once(webSocket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }))
  await once(webSocket, 'open')
  let id = 0
  /** The next answer, in the order in which they come. */
  const next = async (): Promise<Answer> => {
    while (answers.length === 0) await heard.promise
    return answers.shift() as Answer
  }
  const send = (method: string, params: object = {}) =>
    webSocket.send(JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }))
  return {
    webSocket,
    closed,
    next,
    send,
    /** Sends one request and gives the next answer. */
    ask(method: string, params: object = {}) {
      send(method, params)
      return next()
    },
    async open(params: Partial<OpenParams> = {}): Promise<OpenResult> {
      send(METHODS.open, asking(params as OpenRequest))
      return (await next()).result as unknown as OpenResult
    },
  }
}

/** Asks for a WebSocket and is refused: what comes instead. */
export async function refusedWebSocket(
  url: string,
  { protocols = [], ...options }: ClientOptions & { protocols?: string[] } = {},
) {
  const webSocket = new WebSocket(url.replace(/^http/, 'ws'), protocols, options)
  webSocket.on('error', () => {})
  const [, response] = await once(webSocket, 'unexpected-response')
  let text = ''
  for await (const chunk of response) text += chunk
  webSocket.terminate()
  return { status: response.statusCode as number, headers: response.headers as Record<string, string>, text }
}
