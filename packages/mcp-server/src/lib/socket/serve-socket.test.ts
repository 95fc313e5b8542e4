import { once } from 'node:events'
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type NetConnectOpts } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { META, METHODS } from '@episodic/protocol'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { createGatedStore } from '../fixtures/gated-store.fixture.ts'
import { asking, createTestHost, send as sendHttp, serve } from '../fixtures/testbed.fixture.ts'
import type { Rejection } from '../host/caller.ts'
import type { HostOptions } from '../host/host.ts'
import { type SocketOptions, type SocketPlace, type SocketServer, serveSocket } from './serve-socket.ts'

const line = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`

function freePath(name = 'test.sock'): string {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, name)
}

async function serveHere(place: SocketPlace, options: SocketOptions = {}, hostOptions: Partial<HostOptions> = {}) {
  const testbed = createTestHost(hostOptions)
  const server = await serveSocket(testbed.host, place, options)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { ...testbed, server }
}

function whereIs({ url }: SocketServer): NetConnectOpts {
  return url.startsWith('unix:') ? { path: url.slice(5) } : { host: '127.0.0.1', port: Number(new URL(url).port) }
}

/** A client of raw lines. */
async function call(server: SocketServer) {
  const socket = connect({ ...whereIs(server), allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  /** The next line as it came; `null` where the server has hung up. */
  const nextText = async (): Promise<string | null> => {
    const { value, done } = await lines.next()
    return done ? null : value
  }
  return {
    socket,
    nextText,
    next: async () => JSON.parse((await nextText()) ?? 'null'),
    write: (text: string) => void socket.write(text),
  }
}

afterEach(() => void vi.useRealTimers())

describe('serveSocket on a Unix socket', () => {
  it('answers many requests over one connection, each when it is ready', async () => {
    const { server } = await serveHere({ path: freePath() })
    const { write, next } = await call(server)
    write(line(1, METHODS.open, asking()))
    const { session } = (await next()).result
    const guess = { name: 'guess', arguments: { value: 1 }, _meta: { [META.session]: session } }
    write(line(2, METHODS.watch, { session, wait: 60 }) + line(3, METHODS.list) + line(4, 'ping'))
    expect([(await next()).id, (await next()).id].sort()).toEqual([3, 4])
    write(line(5, 'tools/call', guess))
    expect([(await next()).id, (await next()).id].sort()).toEqual([2, 5])
  })

  it('makes whoever connects the operator', async () => {
    const { server, host } = await serveHere({ path: freePath() })
    await host.open('somebody', asking())
    const { write, next } = await call(server)
    write(line(1, METHODS.sessions))
    expect((await next()).result).toMatchObject({ total: 1, sessions: [{ owner: 'somebody' }] })
  })

  it('shares its sessions with the control token over HTTP', async () => {
    const { server, host } = await serveHere({ path: freePath() })
    const http = await serve(host)
    const { write, next } = await call(server)
    write(line(1, METHODS.open, asking()))
    const { session } = (await next()).result
    const { text } = await sendHttp(http.trainerUrl, {
      headers: { authorization: `Bearer ${http.controlToken}` },
      body: line(1, METHODS.state, { session }),
    })
    expect(JSON.parse(text)).toMatchObject({ result: { revision: 0 } })
  })

  it('is for its owner alone, and leaves nothing behind', async () => {
    const path = freePath()
    const { server } = await serveHere({ path })
    expect(server).toMatchObject({ url: `unix:${path}`, controlToken: null })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(path, '..'))).toEqual(['test.sock'])
    await server[Symbol.asyncDispose]()
    expect(readdirSync(join(path, '..'))).toEqual([])
  })

  it('replaces what a dead server left, and refuses where one lives or there is something else', async () => {
    const path = freePath()
    await leaveSocket(path)
    expect(lstatSync(path).isSocket()).toBe(true)
    const { server, host } = await serveHere({ path })
    await expect(serveSocket(host, { path })).rejects.toMatchObject({ code: 'address-in-use' })
    const { write, next } = await call(server)
    write(line(1, 'ping'))
    expect(await next()).toMatchObject({ result: {} })
    const file = freePath('file')
    writeFileSync(file, 'precious')
    await expect(serveSocket(host, { path: file })).rejects.toMatchObject({ code: 'address-in-use' })
    expect(statSync(file).size).toBe(8)
    await expect(serveSocket(host, { path: freePath('x'.repeat(120)) })).rejects.toMatchObject({
      code: 'option-invalid',
    })
    await expect(serveSocket(host, { path: join(path, 'x') })).rejects.toMatchObject({ code: 'option-invalid' })
    expect(readdirSync(join(path, '..'))).toEqual(['test.sock'])
  })

  it('gives one of several that start at once the place', async () => {
    const path = freePath()
    await leaveSocket(path)
    const { host } = createTestHost()
    const started = await Promise.allSettled(Array.from({ length: 5 }, () => serveSocket(host, { path })))
    const servers = started.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    onTestFinished(async () => {
      for (const server of servers) await server[Symbol.asyncDispose]()
    })
    expect(servers).toHaveLength(1)
    const { write, next } = await call(servers[0] as SocketServer)
    write(line(1, 'ping'))
    expect(await next()).toMatchObject({ result: {} })
  })

  it('keeps its framing through long lines and rubbish, and answers all before it hangs up', async () => {
    const refusals: Rejection[] = []
    const { server } = await serveHere(
      { path: freePath() },
      { lineBytes: 1_000, onRejected: (refusal) => refusals.push(refusal) },
    )
    const { socket, next, nextText } = await call(server)
    socket.write(`${'x'.repeat(5_000)}\n\nrubbish\n`)
    socket.write(Buffer.from([0xff, 10]))
    socket.end(line(1, 'ping'))
    const said = [await next(), await next(), await next(), await next()]
    expect(said).toContainEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(said.flatMap(({ error }) => error?.data ?? [])).toEqual(
      expect.arrayContaining([
        { code: 'too-large', limit: 1_000 },
        { code: 'parse-error' },
        { code: 'invalid-request' },
      ]),
    )
    expect(await nextText()).toBe(null)
    expect(refusals).toHaveLength(3)
    for (const { endpoint, principal } of refusals) expect([endpoint, principal]).toEqual(['trainer', 'control'])
  })

  it('reads no further while a client does not read, and cuts it off when that lasts', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { server } = await serveHere({ path: freePath() })
    const socket = connect(whereIs(server))
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await once(socket, 'connect')
    const requests = line(1, METHODS.list).repeat(500)
    while (socket.writableLength < 1_000_000) {
      socket.write(requests)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await vi.advanceTimersByTimeAsync(30_000)
    socket.resume()
    await closed
  })

  it('closes a connection that is silent for long, and none that waits for an answer', async () => {
    const { server, host } = await serveHere({ path: freePath() }, { idleSeconds: 0.5 })
    const { session } = await host.open('control', asking())
    const [silent, waiting] = [await call(server), await call(server)]
    waiting.write(line(1, METHODS.watch, { session, wait: 60 }))
    expect(await silent.nextText()).toBe(null)
    await atControl(host, session, 'control').step({ action: { tool: 'guess', arguments: { value: 1 } } })
    expect(await waiting.next()).toMatchObject({ id: 1, result: { steps: [{}] } })
  })

  it('takes no more connections than it may', async () => {
    const refusals: Rejection[] = []
    const { server } = await serveHere(
      { path: freePath() },
      { connections: 1, onRejected: (refusal) => refusals.push(refusal) },
    )
    const first = await call(server)
    first.write(line(1, 'ping'))
    await first.next()
    const second = connect(whereIs(server))
    second.on('error', () => {})
    await once(second, 'close')
    expect(refusals).toEqual([{ endpoint: null, principal: null, code: 'connections' }])
    first.write(line(2, 'ping'))
    expect(await first.next()).toMatchObject({ id: 2 })
  })

  it('answers what it has read when it drains, and hangs up', async () => {
    const gate = createGatedStore()
    const { server, host } = await serveHere({ path: freePath() }, {}, { store: gate.store })
    const { session } = await host.open('control', asking())
    const { socket, write, next, nextText } = await call(server)
    const step = { name: 'guess', arguments: { value: 1 }, _meta: { [META.session]: session } }
    write(line(1, 'tools/call', step) + line(2, METHODS.watch, { session, wait: 60 }))
    await gate.reached
    expect(await server.drain({ signal: AbortSignal.abort() })).toBe(2)
    const drained = server.drain()
    gate.open()
    expect([(await next()).id, (await next()).id].sort()).toEqual([1, 2])
    expect(await nextText()).toBe(null)
    socket.end()
    expect(await drained).toBe(0)
  })
})

describe('serveSocket over TCP', () => {
  const hello = (token: string, id = 1) => line(id, METHODS.authenticate, { token })

  it('lets in who shows a token first, as whom it stands for', async () => {
    const token = 'the-control-token-of-ann'
    const { server, host } = await serveHere({ port: 0 }, { controlTokens: { [token]: 'ann' } })
    await host.open('bob', asking())
    const [ann, operator] = [await call(server), await call(server)]
    ann.write(hello(token))
    operator.write(hello(server.controlToken as string))
    for (const { next } of [ann, operator]) expect(await next()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    ann.write(line(2, METHODS.sessions))
    operator.write(line(2, METHODS.sessions))
    expect((await ann.next()).result.total).toBe(0)
    expect((await operator.next()).result.total).toBe(1)
  })

  it('says the same to every stranger, once, and hangs up', async () => {
    const { server, host } = await serveHere({ port: 0 })
    const open = line(2, METHODS.open, asking())
    const said = await Promise.all(
      [hello('wrong'), hello(`${server.controlToken}x`), line(1, METHODS.list), line(1, METHODS.authenticate)].map(
        async (first) => {
          const { write, nextText } = await call(server)
          write(first + open)
          return [await nextText(), await nextText()]
        },
      ),
    )
    for (const answer of said) expect(answer).toEqual(said[0])
    expect(JSON.parse(said[0]?.[0] as string)).toMatchObject({ id: 1, error: { data: { code: 'unauthorized' } } })
    expect(said[0]?.[1]).toBe(null)
    expect((await host.list({ limit: 1 })).total).toBe(0)
  })

  it('does nothing of what a web page makes a browser send', async () => {
    const { server, host } = await serveHere({ port: 0 })
    const { write, next, nextText } = await call(server)
    const body = hello(server.controlToken as string) + line(2, METHODS.open, asking())
    write(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    expect((await next()).error).toBeDefined()
    expect(await nextText()).toBe(null)
    expect((await host.list({ limit: 1 })).total).toBe(0)
  })

  it('waits for a first message for no longer than five seconds, and holds little of it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { server } = await serveHere({ port: 0 })
    const { write, next, nextText } = await call(server)
    write(`${'x'.repeat(100_000)}\n`)
    expect((await next()).error.data).toEqual({ code: 'too-large', limit: 16_384 })
    expect(await nextText()).toBe(null)
    const arrived = Promise.withResolvers<void>()
    const silent = connect(whereIs(server), () => arrived.resolve())
    silent.on('error', () => {})
    await arrived.promise
    // Accepted before a later one is answered.
    const later = await call(server)
    later.write(hello(server.controlToken as string))
    await later.next()
    vi.advanceTimersByTime(5_000)
    silent.resume()
    await once(silent, 'close')
    later.write(line(2, 'ping'))
    expect(await later.next()).toMatchObject({ id: 2 })
  })

  it('says that a port is taken', async () => {
    const { server, host } = await serveHere({ port: 0 })
    const port = Number(new URL(server.url).port)
    await expect(serveSocket(host, { port })).rejects.toMatchObject({ code: 'address-in-use' })
    await expect(serveSocket(host, {}, { controlToken: 'short' })).rejects.toMatchObject({ code: 'option-invalid' })
  })
})

/** Leaves a socket at a path with nobody behind it, as a server does that is killed. */
async function leaveSocket(path: string): Promise<void> {
  const { link } = await import('node:fs/promises')
  const dead = createServer().listen(`${path}.dead`)
  await once(dead, 'listening')
  await link(`${path}.dead`, path)
  dead.close()
  await once(dead, 'close')
  expect(existsSync(`${path}.dead`)).toBe(false)
}
