import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { send } from '../../fixtures/testbed.fixture.ts'
import { type PlainRequest, PlainRequests } from './connection.ts'

const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', note: 'ünd' })

/** Sends a request to a socket, and gives what is made of the first piece of it that arrives. */
async function readFirst(ask: (url: string) => Promise<unknown>): Promise<PlainRequest | null> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const asking = ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/env`).catch(() => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [piece] = (await once(socket, 'data')) as [Buffer]
  const request = new PlainRequests().read(socket, piece)
  socket.destroy()
  await asking
  return request
}

const headers = { 'content-type': 'application/json', 'X-Note': '  a note ' }

it.for([
  ['undici', (url: string) => send(url, { headers, body })],
  ['fetch', (url: string) => fetch(url, { method: 'POST', headers, body })],
] as const)('reads what %s sends', async ([, ask]) => {
  const request = await readFirst(ask)
  expect(request).toMatchObject({ method: 'POST', url: '/env' })
  expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'x-note': 'a note' })
  expect(request?.body.toString()).toBe(body)
})

it('leaves long requests to node:http', async () => {
  expect(await readFirst((url) => send(url, { headers: { 'X-Note': 'n'.repeat(9_000) }, body }))).toBeNull()
  expect(await readFirst((url) => send(url, { body: 'x'.repeat(1_000_000) }))).toBeNull()
  const many = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`x-${i}`, '']))
  expect(await readFirst((url) => send(url, { headers: many, body }))).toBeNull()
})
