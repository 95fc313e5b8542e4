import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { answerRequestErrors, Pipelines } from './connection-limits.ts'

/**
 * A server that reads requests to the end and leaves the rest to the test, and a client that has sent something to it.
 */
async function serveErrors() {
  const pipelines = new Pipelines()
  const server = createServer((request, response) =>
    pipelines.take(response, request.socket, () => void response.write('begun')),
  )
  answerRequestErrors(server, pipelines)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    server,
    async send(text: string): Promise<{ accepted: Socket; answer: Promise<string> }> {
      const socket = connect(port, '127.0.0.1')
      const [accepted] = (await once(server, 'connection')) as [Socket]
      onTestFinished(() => void socket.destroy())
      const answer = socket.setEncoding('latin1').toArray()
      socket.write(text)
      return { accepted, answer: answer.then((pieces) => pieces.join('')) }
    },
  }
}

const refusal = (status: string) => `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`

describe('a request that cannot be answered', () => {
  it.each([
    ['that is no HTTP', 'Hello.\r\n\r\n', '400 Bad Request'],
    [
      'with a head that is too long',
      `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`,
      '431 Request Header Fields Too Large',
    ],
    [
      'with chunks that say too much of themselves',
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\n`,
      // It has begun to be answered by then.
      null,
    ],
  ])('%s is refused as node:http refuses it', async (_, text, status) => {
    const { send } = await serveErrors()
    const { answer } = await send(text)
    if (status) expect(await answer).toBe(refusal(status))
    else expect(await answer).not.toContain('413')
  })

  it('is refused with 408 when its time is up, and no more than 64 of them in one turn', async () => {
    const { server, send } = await serveErrors()
    const slow = []
    for (let i = 0; i < 150; i++) slow.push(await send('GET / HT'))
    for (const { accepted } of slow)
      server.emit('clientError', Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), accepted)
    const ended: number[] = []
    do {
      await new Promise(setImmediate)
      ended.push(slow.filter(({ accepted }) => accepted.writableEnded).length)
    } while ((ended.at(-1) as number) < 150)
    const steps = ended.map((count, index) => count - (ended[index - 1] ?? 0))
    expect(Math.max(...steps)).toBe(64)
    for (const { answer } of slow) expect(await answer).toBe(refusal('408 Request Timeout'))
  })
})
