import { connect as connectSocket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { initialize, rpc, send, serveTestHost } from '../fixtures/testbed.fixture.ts'

describe('the limit of a body', () => {
  const padded = (bytes: number) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { pad: '' } })
    return body.replace(
      '""',
      JSON.stringify('é'.repeat((bytes - body.length) >> 1) + 'x'.repeat((bytes - body.length) & 1)),
    )
  }

  it('counts bytes, lets in what just fits, and leaves the connection usable', async () => {
    const { server } = await serveTestHost({ limits: { bodyBytes: 10_000 } })
    const headers = await initialize(server.agentUrl)
    expect(Buffer.byteLength(padded(10_000))).toBe(10_000)
    expect((await send(server.agentUrl, { headers, body: padded(10_000) })).status).toBe(200)
    const refused = await send(server.agentUrl, { headers, body: padded(10_001) })
    expect(refused.status).toBe(413)
    expect(JSON.parse(refused.text).error.data).toEqual({ code: 'too-large', limit: 10_000 })
    expect((await send(server.agentUrl, { headers, body: padded(2_000_000) })).status).toBe(413)
    expect((await send(server.agentUrl, { headers, body: padded(100) })).status).toBe(200)
  })

  it('holds for all bodies of clients without a token that have come in part, together', async () => {
    const { server } = await serveTestHost()
    const { 'mcp-session-id': id } = await initialize(server.agentUrl)
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Session-Id: ${id}\r\n`
    const half = `${head}Content-Length: 1040000\r\n\r\n${'x'.repeat(1_030_000)}`
    const answers: string[] = []
    const sockets = Array.from({ length: 140 }, () => {
      const socket = connectSocket(server.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.on('data', (data) => answers.push(data.toString()))
      socket.write(half)
      return socket
    })
    await expect
      .poll(() => answers.filter((answer) => answer.includes('Too many bodies arrive')).length)
      .toBeGreaterThan(5)
    for (const socket of sockets) socket.destroy()
    await expect
      .poll(
        async () => (await rpc(server.agentUrl, 'ping', { pad: 'x'.repeat(200_000) }, { 'mcp-session-id': id })).status,
      )
      .toBe(200)
  })

  it('holds without an announced length, and with a lie', async () => {
    const { server } = await serveTestHost({ limits: { bodyBytes: 1_000 } })
    const { 'mcp-session-id': id } = await initialize(server.agentUrl)
    const head = ['POST /mcp HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', `Mcp-Session-Id: ${id}`]
    const chunk = `400\r\n${'x'.repeat(0x400)}\r\n`
    expect(await raw(server.port, [...head, 'Transfer-Encoding: chunked', '', chunk])).toMatch(/^HTTP\/1.1 413 /)
    expect(await raw(server.port, [...head, 'Content-Length: 999999999', '', '{']), 'announced').toMatch(
      /^HTTP\/1.1 413 /,
    )
    const lied = await raw(server.port, [...head, 'Content-Length: 5', '', `{"a":${'x'.repeat(2_000)}`])
    expect(lied).toMatch(/^HTTP\/1.1 400 /)
    expect(await raw(server.port, [...head, 'Content-Length: -5', '', '{}'])).toMatch(/^HTTP\/1.1 400 /)
    expect((await rpc(server.agentUrl, 'ping', {}, { 'mcp-session-id': id })).status).toBe(200)
  })

  it('survives a client that goes away in the middle', async () => {
    const { server } = await serveTestHost()
    const { 'mcp-session-id': id } = await initialize(server.agentUrl)
    await new Promise<void>((resolve) => {
      const socket = connectSocket(server.port, '127.0.0.1', () => {
        socket.write(
          `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Session-Id: ${id}\r\nContent-Length: 100\r\n\r\n{`,
          () => socket.destroy(),
        )
      })
      socket.on('close', () => resolve())
    })
    expect((await rpc(server.agentUrl, 'ping', {}, { 'mcp-session-id': id })).status).toBe(200)
  })
})

/** Writes bytes on a socket and gives what comes back until the server has said its piece. */
function raw(port: number, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(lines.join('\r\n')))
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString('latin1'))
    })
    socket.once('error', reject)
  })
}
