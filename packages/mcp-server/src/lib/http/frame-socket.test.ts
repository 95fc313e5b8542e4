import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { FrameSocket } from './frame-socket.ts'

const MEBIBYTE = 1_048_576

it('reads no more than a few large frames ahead of its answers, and answers all in order', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => client.terminate())
  const [request, stream, head] = (await once(server, 'upgrade')) as [never, Duplex & { bytesRead: number }, Buffer]
  const webSocket = await new Promise<WebSocket>((resolve) =>
    new WebSocketServer({ noServer: true }).handleUpgrade(request, stream, head, resolve),
  )
  const answering = Promise.withResolvers<void>()
  const identity = { isWelcome: async () => true } as ConstructorParameters<typeof FrameSocket>[2]
  const socket = new FrameSocket(webSocket, stream, identity, {
    async answer(text) {
      await answering.promise
      return text.slice(0, 1)
    },
  })
  await once(client, 'open')
  const answers: string[] = []
  client.on('message', (data) => answers.push(String(data)))
  for (let i = 0; i < 10; i++) client.send(String(i).padEnd(MEBIBYTE))
  await expect.poll(() => webSocket.isPaused).toBe(true)
  expect(socket.count).toBeLessThanOrEqual(2)
  expect(stream.bytesRead).toBeLessThan(4 * MEBIBYTE)
  answering.resolve()
  await expect.poll(() => answers.join('')).toBe('0123456789')
})
