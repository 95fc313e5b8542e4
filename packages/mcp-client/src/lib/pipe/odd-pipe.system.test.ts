import { fileURLToPath } from 'node:url'
import { MODERN_VERSION } from '@episodic/protocol/internal'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openChannel } from '../open-channel.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const FIXTURE = fileURLToPath(new URL('../fixtures/odd-pipe.fixture.ts', import.meta.url))

async function open(lines: Readonly<Record<string, readonly string[]>>) {
  const channel = await openChannel({ command: process.execPath, args: [FIXTURE, JSON.stringify(lines)] })
  return {
    list: () => channel.request('tools/list', {}),
    call: () => channel.request('tools/call', { name: 'echo', arguments: {} }),
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

const answer = (member: string) => [`{"jsonrpc":"2.0","id":ID,${member}}`]
const TEXT = '"result":{"content":[{"type":"text","text":"hello"}]}'

describe('a server over a pipe whose answers are a little off', () => {
  it.each<[string, readonly string[]]>([
    ['begins with a byte order mark', answer(TEXT).map((line) => `\ufeff${line}`)],
    ['has an error that is null', answer(`${TEXT},"error":null,"method":null,"params":null`)],
    ['says no version of JSON-RPC', [`{"id":ID,${TEXT}}`]],
    ['is a batch', [`[{"jsonrpc":"2.0","id":ID,${TEXT}}]`]],
    [
      'follows a greeting, and lines that are no message',
      ['Starting', '[1,2]', 'null', '{"level":"info"}', ...answer(TEXT)],
    ],
    [
      'has null in its members',
      answer(
        '"result":{"content":[{"type":"text","text":"hello","annotations":null}],"isError":null,"structuredContent":null,"_meta":null}',
      ),
    ],
    ['follows a log of other messages', ['got {"jsonrpc":"2.0","id":ID,"method":"x"} {"id":ID}', ...answer(TEXT)]],
    ['has metadata that is a text', answer('"result":{"content":[{"type":"text","text":"hello"}],"_meta":"x"}')],
  ])('is read if an answer %s', async (_, lines) => {
    await using server = await open({ 'tools/call': lines })
    expect(await server.call()).toEqual({ content: [{ type: 'text', text: 'hello' }] })
  })

  it.each<[string, string, RegExp]>([
    ['a text', '"error":"it broke"', /it broke/],
    ['an object without a code', '"error":{"message":"it broke"}', /it broke/],
    ['an object without words', '"error":{"code":-32000}', /-32000/],
    ['an object with a code that is a text', '"error":{"code":"E_BAD","message":"it broke"}', /it broke/],
    ['beside a result', `${TEXT},"error":{"code":-32603,"message":"it broke"}`, /it broke/],
    ['a line that is no answer', '"what":"is this"', /no message of MCP: .*"what":"is this"/],
  ])('ends a call at once if its error is %s', async (_, member, message) => {
    await using server = await open({ 'tools/call': answer(member) })
    await expect(server.call()).rejects.toThrow(message)
  })

  it('ends the only call that waits if it is refused without its id', async () => {
    await using server = await open({
      'tools/call': ['{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"it broke"}}'],
    })
    await expect(server.call()).rejects.toThrow(/it broke/)
  })

  it.each([
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[',
    '{"jsonrpc":"2.0","method":"x"}{"id":ID,"jsonrpc":"2.0","result":{"content":[]}}',
    '{"jsonrpc":"2.0","id":99,"result":{}}{"jsonrpc":"2.0","id":ID,"error":{"content":[],"method":0}}',
  ])('ends a call at once if it is answered in the line %s', async (line) => {
    await using server = await open({ 'tools/call': [line] })
    await expect(server.call()).rejects.toThrow(/no message of MCP: .*"content":\[/)
  })

  it('keeps a part of an answer that cannot be read', async () => {
    const content = [
      { type: 'json', json: { a: 1 } },
      { type: 'resource', resource: { uri: 'file:///a', text: 'x', mimeType: null } },
      'plain',
    ]
    await using server = await open({ 'tools/call': answer(`"result":${JSON.stringify({ content })}`) })
    expect(await server.call()).toEqual({
      content: [
        { type: 'text', text: '{"type":"json","json":{"a":1}}' },
        { type: 'resource', resource: { uri: 'file:///a', text: 'x' } },
        { type: 'text', text: 'plain' },
      ],
    })
  })

  it.each<[string, object, object]>([
    ['a `data:` URL', { data: 'data:image/png;base64,iVBORw0KGgo=' }, { data: 'iVBORw0KGgo=', mimeType: 'image/png' }],
    ['lines', { data: 'R0lG\nODlh\n', mimeType: 'image/x' }, { data: 'R0lGODlh', mimeType: 'image/x' }],
    ['the form for URLs', { data: '_9j_4A', mimeType: null }, { data: '/9j/4A==', mimeType: 'image/jpeg' }],
  ])('reads a picture whose data is %s', async (_, given, read) => {
    const content = [{ type: 'image', ...given }]
    await using server = await open({ 'tools/call': answer(`"result":${JSON.stringify({ content })}`) })
    expect(await server.call()).toEqual({ content: [{ type: 'image', ...read }] })
  })

  it('has all tools that can be read, and warns of any other by its name', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const tools = [
      { name: 'nulls', title: null, description: null, annotations: null, outputSchema: null, inputSchema: null },
      { name: 'untyped', inputSchema: { properties: { text: { type: 'string' } }, required: null } },
      { name: 'wrong', inputSchema: 'text' },
      { name: 'untyped', inputSchema: {}, description: 'again' },
      { description: 'nameless', inputSchema: {} },
    ]
    await using server = await open({ 'tools/list': answer(`"result":${JSON.stringify({ tools, nextCursor: null })}`) })
    expect(await server.list()).toEqual({
      tools: [
        { name: 'nulls', inputSchema: { type: 'object' } },
        { name: 'untyped', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
      ],
    })
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      expect.stringContaining('"wrong"'),
      expect.stringContaining('"untyped"'),
      expect.stringContaining('nameless'),
    ])
  })

  it.each<[string, object]>([
    ['null in its members', { capabilities: { tools: {}, prompts: null }, instructions: null }],
    ['`true` for a capability', { capabilities: { tools: true, logging: true } }],
    ['an array of capabilities', { capabilities: [], serverInfo: { name: 5, icons: 'x', websiteUrl: null } }],
    ['metadata and instructions of another type', { capabilities: { tools: {} }, _meta: 'x', instructions: 5 }],
  ])('is connected to if its handshake has %s', async (_, members) => {
    const result = { protocolVersion: '2025-11-25', ...members }
    await using server = await open({ initialize: answer(`"result":${JSON.stringify(result)}`) })
    expect(await server.call()).toMatchObject({ content: [{ text: 'plain' }] })
  })
})

describe('a command that does not exist', () => {
  it.each([
    [
      'nowhere-to-be-found',
      'Cannot connect to the command nowhere-to-be-found: there is no command nowhere-to-be-found.',
    ],
    ['node server.mjs', /there is no command node server\.mjs\. Write its arguments apart from it, as `args`\./],
  ])('is named: %s', async (command, message) => {
    await expect(openChannel({ command })).rejects.toThrow(message)
  })
})

describe('a server over a pipe that is slow to start', () => {
  const discovered = `{"jsonrpc":"2.0","id":ASKED,"result":{"supportedVersions":["${MODERN_VERSION}"],"capabilities":{}}}`
  const refused = '{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"no handshake","data":{"supported":[]}}}'

  it.each<[string, Readonly<Record<string, readonly string[]>>]>([
    ['answers late, and refuses the handshake', { 'server/discover': [], initialize: [refused, discovered] }],
    ['answers late, and then refuses the handshake', { 'server/discover': [], initialize: [discovered, refused] }],
    ['answers nothing before the handshake', { 'server/discover': [] }],
  ])('is connected to if it %s', async (_, lines) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const opening = open(lines)
    // The timer of the probe, and no other, so that a process that is slow here changes nothing.
    await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 120_000 })
    await vi.advanceTimersByTimeAsync(10_000)
    await using server = await opening
    expect(await server.call()).toMatchObject({ content: [{ text: 'plain' }] })
  })

  it('does not keep calls waiting for ever if it answers nothing, and has later calls if it answers again', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const discover = [discovered.replace('ASKED', 'ID')]
    await using server = await open({ 'server/discover': discover, 'tools/call': ['{', '}'] })
    const calling = server.call()
    await server.list()
    const failed = expect(calling).rejects.toMatchObject({
      code: 'timed-out',
      message: expect.stringMatching(/No answer from .*: it has not answered tools\/call in time\. It printed: \{/),
    })
    vi.advanceTimersByTime(150_000)
    await failed
    expect(await server.list()).toMatchObject({ tools: [{ name: 'echo' }] })
  })
})

describe('a server over a pipe that expects a handshake first', () => {
  const refused = answer('"error":{"code":-32600,"message":"Not initialized"}')
  it.each<[string, readonly string[]]>([
    ['ends at another message', ['EXIT']],
    ['closes its output at another message', ['CLOSE']],
    ['refuses another message, and ends', [...refused, 'EXIT']],
    ['refuses another message, and all that follow', [...refused, 'REFUSE']],
  ])('is started again and begins with it: it %s', async (_, lines) => {
    const messages: unknown[] = []
    const protocols = new Map<string, 'modern' | 'legacy' | 'either'>()
    const target = { command: process.execPath, args: [FIXTURE, JSON.stringify({ 'server/discover': lines })] }
    const onMessage = (_: string, message: unknown) => void messages.push(message)
    const methods = () => messages.flatMap((message) => (message as { readonly method?: string }).method ?? [])
    for (const probed of [true, false]) {
      messages.length = 0
      const channel = await openChannel(target, { protocols, onMessage })
      expect(await channel.request('tools/call', { name: 'echo', arguments: {} })).toEqual({
        content: [{ type: 'text', text: 'plain' }],
      })
      await channel.close()
      expect(methods().includes('server/discover')).toBe(probed)
      expect(methods()).toContain('notifications/initialized')
    }
  })

  it('is said to have ended, with what it printed, if it ends at the handshake too', async () => {
    const lines = { 'server/discover': ['EXIT'], initialize: ['no key', 'EXIT'] }
    await expect(open(lines)).rejects.toMatchObject({
      code: 'lost',
      message: expect.stringMatching(/^Cannot connect to the command \S+: it ended with status 3\.$/),
    })
  })

  it('is asked what it supports if another server of its command was known to expect one', async () => {
    const protocols = new Map<string, 'legacy'>([[process.execPath, 'legacy']])
    const modern = JSON.stringify({ supportedVersions: [MODERN_VERSION], capabilities: {} })
    const lines = { initialize: ['EXIT'], 'server/discover': answer(`"result":${modern}`) }
    const channel = await openChannel(
      { command: process.execPath, args: [FIXTURE, JSON.stringify(lines)] },
      { protocols },
    )
    expect(await channel.request('tools/list', {})).toMatchObject({ tools: [{ name: 'echo' }] })
    await channel.close()
  })
})
