import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PlainClient } from './plain-client.ts'

/** What a server does with the n-th request of its n-th connection, both from 0. */
type Answering = (socket: Socket, request: number, connection: number) => void

const never = new AbortController().signal
const plain = (body: string, headers = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`

/** A server that answers with bytes of a test, and a client of it. */
async function start(answer: Answering) {
  const requests: string[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    const connection = sockets.push(socket) - 1
    let [unread, count] = ['', 0]
    socket.on('error', () => {})
    socket.on('data', (piece) => {
      unread += piece.toString('latin1')
      const [whole, length] = /^.*?content-length: (\d+)\r\n\r\n/s.exec(unread) ?? []
      if (whole === undefined || unread.length < whole.length + Number(length)) return
      requests.push(unread)
      unread = ''
      answer(socket, count++, connection)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`)
  const client = new PlainClient({ url, headers: { authorization: 'Bearer key' }, largestAnswer: 10_000 })
  onTestFinished(() => {
    client[Symbol.dispose]()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { client, requests, sockets }
}

/** Posts a text, and resolves with how its answer was read, and what it is. */
async function post(client: PlainClient, sent = '{}', signal = never) {
  const answer = await client.post(sent, signal)
  return answer instanceof IncomingMessage
    ? ['node:http', answer.statusCode, await text(answer)]
    : ['plain', answer.status, answer.body.toString()]
}

describe('PlainClient', () => {
  it('posts to its address, and keeps the connection for the next request', async () => {
    const { client, requests, sockets } = await start((socket, request) => socket.write(plain(`{"n":${request}}`)))
    expect(await post(client, '{"é":1}')).toEqual(['plain', 200, '{"n":0}'])
    expect(await post(client)).toEqual(['plain', 200, '{"n":1}'])
    expect(sockets.length).toBe(1)
    expect(requests[0]).toMatch(
      /^POST \/v1\/chat\/completions HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nauthorization: Bearer key\r\n/,
    )
    expect(requests[0]).toMatch(/content-length: 8\r\n\r\n\{"Ã©":1\}$/)
  })

  it('opens a connection for each request that waits', async () => {
    const waiting: Socket[] = []
    const { client, sockets } = await start((socket) => {
      if (waiting.push(socket) === 2) for (const each of waiting) each.write(plain('{}'))
    })
    await Promise.all([post(client), post(client)])
    expect(sockets.length).toBe(2)
  })

  it('reads an answer in any pieces, and its status', async () => {
    const whole = plain('{"a":"é"}'.replace('é', 'e'), 'Retry-After: 7\r\n').replace('200 OK', '429 Too Many Requests')
    for (let size = 1; size < 40; size += 6) {
      const { client } = await start(async (socket) => {
        for (let at = 0; at < whole.length; at += size) {
          socket.write(whole.slice(at, at + size))
          await new Promise(setImmediate)
        }
      })
      expect(await client.post('{}', never)).toEqual({ status: 429, retryAfter: '7', body: Buffer.from('{"a":"e"}') })
    }
  })

  it.each([
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'],
    ['an answer that ends with its connection', 'HTTP/1.1 200 OK\r\n\r\n{}'],
    ['a connection that is closed after it', plain('{}', 'Connection: close\r\n')],
    ['an older version', plain('{}').replace('HTTP/1.1', 'HTTP/1.0')],
    ['a word before the answer', `HTTP/1.1 100 Continue\r\n\r\n${plain('{}')}`],
  ])('leaves to node:http: %s', async (_, answer) => {
    const { client } = await start((socket) => socket.end(answer))
    expect(await post(client)).toEqual(['node:http', 200, '{}'])
  })

  it.each([
    ['a header of two lines', plain('{}', 'X-Long: a\r\n b\r\n')],
    ['the same length twice', plain('{}', 'Content-Length: 2\r\n')],
  ])('refuses what node:http refuses: %s', async (_, answer) => {
    const { client } = await start((socket) => socket.end(answer))
    await expect(post(client)).rejects.toMatchObject({ code: expect.stringMatching(/^HPE_/) })
  })

  it('sends a request again whose kept connection was closed, and no other', async () => {
    const { client, requests } = await start((socket, request, connection) => {
      if (request === 0 && connection < 2) socket.write(plain('{}'))
      else socket.destroy()
    })
    expect(await post(client)).toEqual(['plain', 200, '{}'])
    // Its second request goes to a connection that is closed then, and again to a new one.
    expect(await post(client)).toEqual(['plain', 200, '{}'])
    expect(requests.length).toBe(3)
    // The third connection is closed at its first request.
    await expect(post(client)).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(requests.length).toBe(5)
  })

  it.each([
    ['breaks off', plain('{"a":1}').slice(0, -2)],
    ['is too large', 'HTTP/1.1 200 OK\r\nContent-Length: 10001\r\n\r\n{'],
    ['is longer than it says', `${plain('{}')}{}`],
  ])('rejects an answer that %s', async (_, answer) => {
    const { client } = await start((socket) => socket.end(answer))
    await expect(post(client)).rejects.toMatchObject({ code: 'incomplete' })
  })

  it('ends a request that is aborted, and its connection', async () => {
    const stop = new AbortController()
    const { client, sockets } = await start(() => stop.abort())
    await expect(post(client, '{}', stop.signal)).rejects.toThrow()
    await once(sockets[0] as Socket, 'close')
    await expect(client.post('{}', stop.signal)).rejects.toThrow()
  })
})
