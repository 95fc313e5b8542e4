import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { META, METHODS } from '@episodic/protocol'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { halve } from '../fixtures/number-guessing.fixture.ts'
import { asking, createTestHost, INITIALIZE } from '../fixtures/testbed.fixture.ts'
import { serveStdio } from './serve-stdio.ts'

const FIXTURE = fileURLToPath(new URL('../fixtures/serve-stdio.fixture.ts', import.meta.url))

/** A server in a process of its own, driven by raw lines. */
function start(...args: string[]) {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [FIXTURE, ...args])
  onTestFinished(() => void child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  return {
    child,
    errors: () => errors,
    write: (bytes: string | Uint8Array) => child.stdin.write(bytes),
    /** The next line that the server writes, as JSON. */
    async next(): Promise<{ id: unknown; result?: Record<string, unknown>; error?: { code: number } }> {
      const { value, done } = await lines.next()
      if (done) throw new Error(`The server has hung up. ${errors}`)
      return JSON.parse(value)
    },
  }
}

const line = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
const callLine = (id: number, name: string, args: object = {}) => line(id, 'tools/call', { name, arguments: args })

describe('serveStdio', () => {
  it('lets a plain MCP client play a whole episode, and exits when it hangs up', async () => {
    const transport = new StdioClientTransport({ command: process.execPath, args: [FIXTURE] })
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(transport)
    onTestFinished(() => client.close())
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['guess'])
    const guesses = await halve(1, 100, async (value) => {
      const { structuredContent } = await client.callTool({ name: 'guess', arguments: { value } })
      return (structuredContent as { hint: string }).hint
    })
    expect(guesses).toBeLessThanOrEqual(7)
    expect(await client.callTool({ name: 'guess', arguments: { value: 1 } })).toMatchObject({ isError: true })
    const { pid } = transport
    await client.close()
    expect(() => process.kill(pid as number, 0)).toThrow(/ESRCH/)
  })

  it('answers everything that it has read before it exits, when its parent exits', async () => {
    const { child, write, next } = start()
    for (let id = 1; id <= 8; id++) write(callLine(id, 'guess', { value: id + 200 }))
    child.stdin.end()
    for (let id = 1; id <= 8; id++) expect((await next()).id).toBe(id)
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
    expect(code).toBe(0)
  })

  it('answers what it has read, ends waits and resolves, when its signal is aborted', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking())
    const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()]
    const lines = createInterface({ input: output })[Symbol.asyncIterator]()
    const served = serveStdio(host, { endpoint: 'trainer', input, output, signal: stop.signal })
    const waiting = line(1, METHODS.watch, { session, wait: 60 })
    input.write(`${waiting}${line(2, METHODS.state, { session })}`)
    // The second is answered, so the first has been read, and nobody moves the clock.
    expect(JSON.parse((await lines.next()).value as string)).toMatchObject({ id: 2, result: { revision: 0 } })
    stop.abort()
    expect(JSON.parse((await lines.next()).value as string)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { steps: [], end: null },
    })
    await served
    expect(input.destroyed).toBe(true)
    await serveStdio(host, { input: new PassThrough(), output, signal: AbortSignal.abort() })
  })

  it('exits when nobody reads its answers any more', async () => {
    const { child, write, next } = start()
    write(line(1, 'ping'))
    await next()
    child.stdout.destroy()
    for (let id = 2; id < 200; id++) write(line(id, 'ping'))
    child.stdin.on('error', () => {})
    child.stdin.end()
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
    expect(code).toBe(0)
  })

  it('keeps its framing when an environment writes to standard output', async () => {
    const { errors, write, next } = start('agent', 'workshop')
    write(callLine(1, 'shout'))
    expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: expect.stringContaining('Shouted.') }] } })
    write(callLine(2, 'take'))
    expect(await next()).toMatchObject({ id: 2, result: { structuredContent: { stock: 2 } } })
    await expect.poll(errors).toContain('a stray line')
  })

  it('keeps its framing through long lines, rubbish, blank lines and CRLF', async () => {
    const { write, next } = start('agent', 'number-guessing', '1000')
    const pong = (id: number) => ({ jsonrpc: '2.0', id, result: {} })
    write(line(1, 'ping', { pad: 'x'.repeat(5_000) }))
    expect(await next()).toMatchObject({ id: null, error: { code: 1413 } })
    write('{"jsonrpc": rubbish\n\u0000\n[]\n')
    expect((await next()).error?.code).toBe(-32700)
    expect((await next()).error?.code).toBe(-32700)
    expect((await next()).error?.code).toBe(-32600)
    write(`\n\r\n  \n${line(2, 'ping').replace('\n', '\r\n')}`)
    expect(await next()).toEqual(pong(2))
    write(`${line(3, 'ping')}${line(4, 'ping')}${line(5, 'ping')}`)
    for (const id of [3, 4, 5]) expect(await next()).toEqual(pong(id))
    write(`${'y'.repeat(100_000)}`)
    write(`${'y'.repeat(100_000)}\n${line(6, 'ping')}`)
    expect(await next()).toMatchObject({ id: null, error: { code: 1413 } })
    expect(await next()).toEqual(pong(6))
  })

  it('opens the endpoint that it was started with', async () => {
    const agent = start()
    agent.write(line(1, METHODS.list))
    expect(await agent.next()).toMatchObject({ error: { code: -32601 } })
    const trusted = start('trainer')
    trusted.write(line(1, METHODS.open, asking({ params: { low: 5, high: 5 } })))
    const { session } = (await trusted.next()).result as { session: string }
    trusted.write(line(2, 'tools/call', { name: 'guess', arguments: { value: 5 }, _meta: { [META.session]: session } }))
    expect((await trusted.next()).result).toMatchObject({ _meta: { [META.step]: { terms: { jackpot: 1 } } } })
  })
})

/** Serves a host over streams of this process, and gives the ends that a client holds. */
function serveHere(options: Parameters<typeof serveStdio>[1] = {}, hostOptions = {}) {
  const testbed = createTestHost(hostOptions)
  const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1_000 })]
  const done = serveStdio(testbed.host, { input, output, ...options })
  onTestFinished(() => {
    input.end()
    return done
  })
  const answers = createInterface({ input: output })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await answers.next()).value as string)
  return { ...testbed, input, output, done, next }
}

describe('a pipe', () => {
  it('may cut its bytes anywhere, in the middle of a character too', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme' }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        async (name, cuts) => {
          const { input, output, done, next } = serveHere()
          const bytes = Buffer.from(callLine(1, `é€😀${name}`), 'utf8')
          for (let at = 0; at < bytes.length; ) {
            const end = at + (cuts.next().value as number)
            input.write(bytes.subarray(at, end))
            at = end
          }
          expect((await next()).result.content[0].text).toContain(`There is no tool "é€😀${name}".`)
          input.end()
          await done
          output.destroy()
        },
      ),
      { numRuns: 40 },
    )
  })

  it('is one session, which lies idle before its first call for as long as it likes', async () => {
    const { clock, input, next } = serveHere({}, { bounds: { idleSeconds: 60 } })
    input.write(line(1, 'initialize', INITIALIZE))
    expect(await next()).toMatchObject({ result: { serverInfo: { name: 'number-guessing' } } })
    clock.advance(3_600_000)
    input.write(line(5, 'prompts/get', { name: 'instructions' }))
    expect((await next()).result.messages[0].content.text).toContain('8 guesses left')
    clock.advance(3_600_000)
    input.write(callLine(2, 'guess', { value: 1 }))
    expect((await next()).result.content[0].text).toContain('7 guesses left')
    input.write(callLine(3, 'guess', { value: 2 }))
    expect((await next()).result.content[0].text).toContain('6 guesses left')
  })

  it('says that its session has expired, and begins anew with initialize', async () => {
    const { host, clock, input, next } = serveHere({}, { bounds: { idleSeconds: 60 } })
    input.write(callLine(1, 'guess', { value: 1 }))
    await next()
    clock.advance(61_000)
    await host.sweep()
    input.write(callLine(2, 'guess', { value: 2 }))
    expect((await next()).error.data).toEqual({ code: 'session-not-found' })
    input.write(line(3, 'initialize', INITIALIZE))
    await next()
    input.write(callLine(4, 'guess', { value: 2 }))
    expect((await next()).result.content[0].text).toContain('7 guesses left')
  })

  it('is read no further while as many requests wait as may be in flight', async () => {
    const { host, input, next } = serveHere({ endpoint: 'trainer', inFlight: 2 })
    const { session } = await host.open(null, asking())
    for (const id of [1, 2]) input.write(line(id, METHODS.watch, { session, wait: 60 }))
    input.write(line(3, METHODS.list))
    const first = next()
    const raced = await Promise.race([
      first,
      new Promise((resolve) => setImmediate(() => setImmediate(() => resolve('nothing')))),
    ])
    expect(raced).toBe('nothing')
    await atControl(host, session).step({ action: { tool: 'guess', arguments: { value: 1 } } })
    const ids = [(await first).id, (await next()).id, (await next()).id]
    expect(ids.slice(0, 2).sort()).toEqual([1, 2])
    expect(ids[2]).toBe(3)
  })

  it('holds back a client that does not read its answers', async () => {
    const { host } = createTestHost()
    const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1_000 })]
    const done = serveStdio(host, { input, output })
    const sent = 5_000
    for (let id = 0; id < sent; id++) input.write(line(id, 'tools/list'))
    input.end()
    await expect.poll(() => output.writableNeedDrain).toBe(true)
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(output.readableLength + output.writableLength).toBeLessThan(100_000)
    let answers = 0
    const reader = createInterface({ input: output })
    reader.on('line', () => answers++)
    await done
    await expect.poll(() => answers).toBe(sent)
  })

  it('refuses an environment that it does not serve', async () => {
    const { host } = createTestHost()
    await expect(
      serveStdio(host, { input: new PassThrough(), output: new PassThrough(), environment: 'chess' }),
    ).rejects.toThrow(expect.objectContaining({ code: 'unknown-environment' }))
  })
})
