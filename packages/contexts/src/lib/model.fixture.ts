import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import type { JsonObject } from '@episodic/protocol'

export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: JsonObject
}

/** A server that speaks the API of chat completions, and answers as it is told. */
export async function openModel(answer: (response: ServerResponse, asked: Asked) => void) {
  const asked: Asked[] = []
  const arrived = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    response.on('close', () => gone.resolve())
    const body = JSON.parse(await readText(request))
    const question: Asked = { path: request.url as string, headers: request.headers, body }
    asked.push(question)
    arrived.resolve()
    answer(response, question)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    /** Resolves once a request is there. */
    arrived: arrived.promise,
    /** Resolves once a connection is closed, by whichever side. */
    gone: gone.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

/** The answer of a model that says so. */
export const says = (content: unknown) =>
  json(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'small',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: typeof content === 'string' ? content : JSON.stringify(content) },
      },
    ],
  })
