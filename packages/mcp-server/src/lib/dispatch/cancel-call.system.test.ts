import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { DEFAULT_SEAT, META, METHODS } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import type { CallOptions } from '../environment/rules/call-options.ts'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { createGatedStore } from '../fixtures/gated-store.fixture.ts'
import { createExchange, createMarket } from '../fixtures/market.fixture.ts'
import { MODERN_META, modernHeaders } from '../fixtures/official-clients.fixture.ts'
import { recordHost } from '../fixtures/recorded-host.fixture.ts'
import { asking, call, createTestHost, initialize, send, serve } from '../fixtures/testbed.fixture.ts'
import { openWebSocket } from '../fixtures/web-socket.fixture.ts'
import type { HostOptions } from '../host/host.ts'
import { nextTurn } from '../host/yield-to-event-loop.ts'
import { serveStdio } from '../stdio/serve-stdio.ts'
import { inProcess } from './in-process.ts'

/** A workshop whose commits wait, so that a second call has to wait for the first, and what reaches its host. */
async function openGated(options: Partial<HostOptions> = {}) {
  const gate = createGatedStore()
  const { host: inner, clock, faults } = createTestHost({ store: gate.store, ...options })
  const { host, nextCall } = recordHost(inner)
  const { session, seats } = await host.open(null, asking({ environment: 'workshop' }))
  const capability = seats[DEFAULT_SEAT]?.capability as string
  const stock = async () => ((await atControl(host, session).state()).state.public as { stock: number }).stock
  return { ...gate, host, clock, nextCall, faults, session, capability, stock }
}

const take = (id: number | string, _meta?: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'take', arguments: {}, ...(_meta && { _meta }) },
})
const cancel = (requestId: unknown) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })

/** Sends a message over HTTP, in either protocol version. */
function post(url: string, message: object, headers: Record<string, string> = {}) {
  return send(url, { body: JSON.stringify(message), headers })
}

describe('a call that waits for its turn', () => {
  it('is cancelled over HTTP in a session-based version, and gets no answer', async () => {
    const { host, nextCall, open, stock, reached, capability } = await openGated()
    const url = (await serve(host)).sessionUrl(capability)
    const first = post(url, take('first'))
    await reached
    const second = post(url, take('second'))
    const third = post(url, take('third'))
    await Promise.all([nextCall(), nextCall(), nextCall()])
    expect(await post(url, cancel('second'))).toMatchObject({ status: 202, text: '' })
    open()
    expect(JSON.parse((await first).text)).toMatchObject({ id: 'first', result: { structuredContent: { stock: 2 } } })
    expect(await second).toMatchObject({ status: 202, text: '' })
    expect(JSON.parse((await third).text)).toMatchObject({ id: 'third', result: { structuredContent: { stock: 1 } } })
    expect(await stock()).toBe(1)
  })

  it('is cancelled by the transport session that made it, and by no other', async () => {
    const { host, nextCall, open, reached } = await openGated()
    const { agentUrl } = await serve(host)
    const url = agentUrl.replace('/mcp', '/mcp/e/workshop')
    const [mine, theirs] = [await initialize(url), await initialize(url)]
    const first = post(url, take(1), mine)
    await reached
    const second = post(url, take(2), mine)
    await Promise.all([nextCall(), nextCall()])
    await post(url, cancel(2), theirs)
    open()
    expect(JSON.parse((await first).text).result.structuredContent.stock).toBe(2)
    expect(JSON.parse((await second).text).result.structuredContent.stock).toBe(1)
  })

  it('is cancelled in the stateless version by closing the connection, and not before', async () => {
    for (const modern of [true, false]) {
      const { host, nextCall, open, reached, capability, stock } = await openGated()
      const url = (await serve(host)).sessionUrl(capability)
      const first = post(url, take(1))
      await reached
      await nextCall()
      const hangUp = new AbortController()
      const gone = fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(modern && modernHeaders('tools/call', 'take')),
        },
        body: JSON.stringify(take(2, modern ? MODERN_META : undefined)),
        signal: hangUp.signal,
      })
      const { waiting } = await nextCall()
      const calledOff = Promise.withResolvers<void>()
      waiting?.signal.addEventListener('abort', () => calledOff.resolve())
      hangUp.abort()
      await expect(gone).rejects.toThrow()
      if (modern) await calledOff.promise
      open()
      await first
      // The next call waits for all calls before it.
      expect(JSON.parse((await post(url, take(3))).text).result.structuredContent.stock).toBe(modern ? 1 : 0)
      expect(await stock()).toBe(modern ? 1 : 0)
    }
  })

  it('is cancelled over a WebSocket of the trainer endpoint, and can be repeated', async () => {
    const { host, nextCall, open, reached, faults } = await openGated()
    const server = await serve(host)
    const socket = await openWebSocket(server.trainerUrl, {
      headers: { authorization: `Bearer ${server.controlToken}` },
    })
    const { session } = await socket.open({ environment: 'workshop' })
    const step = (id: number, seq: number) => take(id, { [META.session]: session, [META.seq]: seq })
    const say = (message: object) => socket.webSocket.send(JSON.stringify(message))
    say(step(1, 0))
    await reached
    say(step(2, 1))
    await Promise.all([nextCall(), nextCall()])
    say(cancel(2))
    say(step(3, 1))
    await nextCall()
    open()
    expect(await socket.next()).toMatchObject({ id: 1 })
    expect(await socket.next()).toMatchObject({ id: 3, result: { _meta: { [META.step]: { seq: 2 } } } })
    expect(faults).toEqual([])
  })

  it('is cancelled over a pipe if it has not started, and answered if the rules have started it', async () => {
    const { host, nextCall, open, reached } = await openGated()
    const [input, output] = [new PassThrough(), new PassThrough()]
    const lines = createInterface({ input: output })[Symbol.asyncIterator]()
    const served = serveStdio(host, { environment: 'workshop', input, output })
    const say = (message: object) => input.write(`${JSON.stringify(message)}\n`)
    say(take(1))
    await reached
    await nextCall()
    const malformed = { ...cancel(3), jsonrpc: '1.0' }
    for (const message of [take(2), take(3), cancel(2), cancel(1), cancel('unknown'), malformed]) say(message)
    open()
    const next = async () => JSON.parse((await lines.next()).value as string)
    expect(await next()).toMatchObject({ id: 1, result: { structuredContent: { stock: 2 } } })
    expect(await next()).toMatchObject({ id: 3, result: { structuredContent: { stock: 1 } } })
    expect(await next()).toMatchObject({ id: null, error: { data: { code: 'invalid-request' } } })
    input.end()
    await served
  })

  it('is cancelled in process, with the reason of the signal', async () => {
    const { host, nextCall, open, reached, capability, stock } = await openGated()
    const endpoint = inProcess(host, {
      endpoint: 'agent',
      principal: null,
      address: { by: 'capability', token: capability },
    })
    const abort = new AbortController()
    const call = (signal?: AbortSignal) => endpoint.request('tools/call', { name: 'take', arguments: {} }, { signal })
    const first = call()
    await reached
    const second = call(abort.signal)
    await Promise.all([nextCall(), nextCall()])
    const reason = new Error('Never mind.')
    abort.abort(reason)
    open()
    await first
    await expect(second).rejects.toBe(reason)
    expect(await stock()).toBe(2)
  })
})

describe('a call whose tool prepares', () => {
  it('is cancelled, reports what it waits for, and changes nothing', async () => {
    const exchange = createExchange()
    const asked = Promise.withResolvers<AbortSignal>()
    exchange.order = (_, signal) => {
      asked.resolve(signal)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const { host, faults } = createTestHost({ environments: [createMarket(exchange)] })
    const { session, seats } = await host.open(null, asking({ environment: 'market' }))
    const url = (await serve(host)).sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
    const params = { name: 'quote', arguments: { shares: 2 }, _meta: { progressToken: 'fee' } }
    const quoting = post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const signal = await asked.promise
    await post(url, cancel(1))
    const answer = await quoting
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } })
    expect(answer.text).toContain('"method":"notifications/progress","params":{"progressToken":"fee","progress":0')
    expect(answer.text).not.toContain('"id"')
    expect(signal.aborted).toBe(true)
    expect((await atControl(host, session).state()).revision).toBe(0)
    expect(faults).toEqual([])
  })
})

describe('progress', () => {
  const events = (text: string) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string))

  it('is sent on an event stream before the answer if a call waits and its client asked for it', async () => {
    const { host, nextCall, open, reached, capability } = await openGated()
    const url = (await serve(host)).sessionUrl(capability)
    const first = post(url, take(1, { progressToken: 'none' }))
    await reached
    const asked = post(url, take(2, { progressToken: 7 }))
    const silent = post(url, take(3))
    const unable = send(url, {
      body: JSON.stringify(take(4, { progressToken: 8 })),
      headers: { accept: 'application/json' },
    })
    await Promise.all([nextCall(), nextCall(), nextCall(), nextCall()])
    open()
    const answers = await Promise.all([first, asked, silent, unable])
    expect(answers.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json',
      'text/event-stream',
      'application/json',
      'application/json',
    ])
    expect(events(answers[1]?.text as string)).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 7, progress: 0, message: expect.any(String) } },
      { id: 2, result: { structuredContent: { stock: 1 } } },
    ])
  })

  it('is reported again every five seconds while the call waits, and no more once its turn has come', async () => {
    const { host, clock, nextCall, open, reached, session } = await openGated()
    const reports: string[] = []
    const step = (waiting?: CallOptions) => atControl(host, session).step({ ...call('take'), waiting })
    const first = step()
    await reached
    const second = step({ signal: new AbortController().signal, report: (message) => void reports.push(message) })
    await Promise.all([nextCall(), nextCall()])
    for (let i = 0; i < 3; i++) {
      clock.advance(5_000)
      await nextTurn()
    }
    expect(reports).toEqual(Array.from({ length: 4 }, () => 'Waiting for the calls before this one.'))
    open()
    await Promise.all([first, second])
    clock.advance(60_000)
    await nextTurn()
    expect(reports).toHaveLength(4)
  })

  it('is sent over a pipe and a socket too', async () => {
    const { host, nextCall, open, reached, session } = await openGated()
    const [input, output] = [new PassThrough(), new PassThrough()]
    const lines = createInterface({ input: output })[Symbol.asyncIterator]()
    const served = serveStdio(host, { endpoint: 'trainer', input, output })
    const say = (message: object) => input.write(`${JSON.stringify(message)}\n`)
    say(take(1, { [META.session]: session }))
    await reached
    say(take(2, { [META.session]: session, progressToken: 'mine' }))
    await Promise.all([nextCall(), nextCall()])
    const next = async () => JSON.parse((await lines.next()).value as string)
    expect(await next()).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'mine' } })
    open()
    expect([await next(), await next()]).toMatchObject([{ id: 1 }, { id: 2 }])
    say({ jsonrpc: '2.0', id: 3, method: METHODS.state, params: { session } })
    expect(await next()).toMatchObject({ id: 3, result: { state: { public: { stock: 1 } } } })
    input.end()
    await served
  })
})
