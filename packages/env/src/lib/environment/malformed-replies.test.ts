import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Target } from '@episodic/mcp-client/channel'
import { inProcess } from '@episodic/mcp-server'
import { type Channel, EXTENSION, type JsonObject, META, METHODS } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { createWalkHost } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'
import { scriptedPolicy } from '../policy/scripted-policy.ts'
import { runEpisode } from './run-episode.ts'

type Path = readonly (string | number)[]

const STEP = ['_meta', META.step]
/** What must be there in each reply, and of the right kind. The empty path is the reply itself. */
const FIELDS: readonly [method: string, path: Path][] = [
  ...[
    [],
    ['environments'],
    ['environments', 0],
    ...['name', 'version', 'description', 'paramsSchema', 'tools', 'terms', 'potential', 'limits'].map((field) => [
      'environments',
      0,
      field,
    ]),
    ...['name', 'description', 'inputSchema', 'outputSchema'].map((field) => ['environments', 0, 'tools', 0, field]),
    ...['steps', 'bytes'].map((field) => ['environments', 0, 'limits', field]),
  ].map((path): [string, Path] => [METHODS.list, path]),
  ...[
    [],
    ...['id', 'session', 'epoch', 'environment', 'params', 'seed', 'limits', 'seats', 'potential'].map((field) => [
      field,
    ]),
    ...['name', 'version'].map((field) => ['environment', field]),
    ['seats', 'agent'],
    ['seats', 'agent', 'capability'],
    ['seats', 'agent', 'observation'],
    ['seats', 'agent', 'observation', 'text'],
    ['seats', 'agent', 'observation', 'structured'],
  ].map((path): [string, Path] => [METHODS.open, path]),
  ...[
    [],
    ['content'],
    ['content', 0],
    ['content', 0, 'type'],
    ['_meta'],
    STEP,
    ...['seq', 'revision', 'terms', 'potential', 'end', 'refused'].map((field) => [...STEP, field]),
    ...['arrived', 'thrift', 'refused'].map((term) => [...STEP, 'terms', term]),
  ].map((path): [string, Path] => ['tools/call', path]),
]

/** A host in this process whose answers to one method are changed on their way. */
function spoil(method: string, change: (reply: unknown) => unknown): Channel {
  const channel = inProcess(createWalkHost())
  return {
    ...channel,
    async request(asked, params, options) {
      const reply = await channel.request(asked, params, options)
      return asked === method ? change(reply) : reply
    },
  }
}

/** A copy of a reply with the value at a path replaced. */
function put(value: unknown, [key, ...rest]: Path, replace: (value: unknown) => unknown): unknown {
  if (key === undefined) return replace(value)
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>
  expect(copy).toHaveProperty([String(key)])
  copy[key] = put(copy[key], rest, replace)
  return copy
}

/** A value of another kind. */
function otherKind(value: unknown): unknown {
  if (typeof value === 'string' || value === null) return 7
  return Array.isArray(value) ? {} : 'rubbish'
}

async function playOneStep(target: Target) {
  await using connection = await connect(target)
  await using environment = connection.environment()
  await environment.reset({ seed: 'a' })
  return environment.step(move(1))
}

describe('a malformed reply', () => {
  it.each(FIELDS)('to %s is an error at %j', async (method, path) => {
    const spoils = [
      otherKind,
      () => undefined,
      (value: unknown) => (typeof value === 'number' ? Number.NaN : 'rubbish'),
    ]
    for (const change of spoils.slice(0, isText(path) ? 2 : 3))
      await expect(playOneStep(spoil(method, (reply) => put(reply, path, change)))).rejects.toMatchObject({
        name: 'EnvError',
        code: 'reply-malformed',
      })
  })

  it.each([
    ['counts other steps', { seq: 2 }],
    ['has a term that was not announced', { terms: { arrived: 0, thrift: 0, refused: 0, luck: 1 } }],
    ['lacks a term that was announced', { terms: { arrived: 0, thrift: 0 } }],
    ['lacks the potential that was announced', { potential: null }],
    ['ends for no reason', { end: { kind: 'terminated' } }],
    ['is truncated for a reason of its own', { end: { kind: 'truncated', reason: 'tired' } }],
    ['is refused for a reason of its own', { refused: 'mood' }],
  ])('is one that %s', async (_, wrong) => {
    const channel = spoil('tools/call', (reply) => put(reply, STEP, (report) => ({ ...(report as object), ...wrong })))
    await expect(playOneStep(channel)).rejects.toMatchObject({ code: 'reply-malformed' })
  })

  it('is a session without a seat', async () => {
    const channel = spoil(METHODS.open, (reply) => put(reply, ['seats'], () => ({})))
    await expect(playOneStep(channel)).rejects.toMatchObject({ code: 'reply-malformed' })
  })

  it('fails an episode, and never gives it a reward', async () => {
    const channel = spoil('tools/call', () => ({ content: [] }))
    await using connection = await connect(channel)
    const environment = connection.environment()
    const episode = await runEpisode({ createEnvironment: () => environment, policy: scriptedPolicy([move(1)]) })
    expect(episode).toMatchObject({ kind: 'failed', steps: [], cause: { code: 'reply-malformed' } })
  })
})

/** Where any text is as good as another. */
function isText(path: Path): boolean {
  return ['name', 'version', 'description', 'id', 'session', 'seed', 'capability', 'text', 'type'].includes(
    String(path.at(-1)),
  )
}

/** What an HTTP server may answer to a call instead of an answer. */
const BAD_ANSWERS: readonly [what: string, code: string, answer: (response: ServerResponse, id: number) => void][] = [
  ['HTML', 'reply-malformed', (response) => response.end('<html>Welcome</html>')],
  ['truncated JSON', 'reply-malformed', (response, id) => response.end(`{"jsonrpc":"2.0","id":${id},"result":{"con`)],
  ['nothing', 'reply-malformed', (response) => response.end()],
  ['null', 'reply-malformed', (response) => response.end('null')],
  ['a list', 'reply-malformed', (response) => response.end('[]')],
  ['an answer to another call', 'reply-malformed', (response) => response.end(reply(-7, { content: [] }))],
  ['an error of another call', 'reply-malformed', (response) => response.end(refuse(-7, -32603))],
  ['an error without a code', 'reply-malformed', (response, id) => response.end(JSON.stringify({ id, error: 'no' }))],
  ['a result that is no step', 'reply-malformed', (response, id) => response.end(reply(id, { content: [] }))],
  ['a number as the result', 'reply-malformed', (response, id) => response.end(reply(id, 7))],
  ['an error that nobody knows', 'connection-failed', (response, id) => response.end(refuse(id, 4711))],
  ['status 500', 'connection-failed', (response) => response.writeHead(500).end('Internal Server Error')],
  ['status 502 with HTML', 'connection-failed', (response) => response.writeHead(502).end('<html></html>')],
  ['status 503 while it stops', 'connection-failed', (response) => response.writeHead(503).end(refuse(null, -32000))],
  ['status 401', 'connection-failed', (response, id) => response.writeHead(401).end(refuse(id, -32000))],
  ['status 404 with nothing', 'connection-failed', (response) => response.writeHead(404).end()],
  ['a closed socket', 'connection-failed', (response) => response.destroy()],
  [
    'half an answer and a closed socket',
    'connection-failed',
    (response) => {
      response.writeHead(200, { 'content-length': 1_000 })
      response.write('{"jsonrpc"', () => response.destroy())
    },
  ],
]

describe('a server that answers over HTTP', () => {
  it.each(BAD_ANSWERS)('%s to a step gives %s', async (what, code, answer) => {
    await using server = await serveBadly(answer)
    await using connection = await connect(server.url, { retry: { attempts: 2, pause: async () => {} } })
    const environment = connection.environment()
    const episode = await runEpisode({ createEnvironment: () => environment, policy: scriptedPolicy([move(1)]) })
    expect(episode).toMatchObject({ kind: 'failed', steps: [], cause: { name: 'EnvError', code } })
    // What has arrived is not asked for again, however bad it is.
    expect(server.steps()).toBe(/socket|502|503/.test(what) ? 2 : 1)
  })

  it.each(BAD_ANSWERS)('%s to everything gives an error of ours', async (_, __, answer) => {
    await using server = await serveBadly(answer, true)
    await expect(connect(server.url)).rejects.toMatchObject({ name: 'EnvError' })
  })
})

/** A server of walks with a valid handshake, whose answers to steps, or to everything, are given. */
async function serveBadly(answer: (response: ServerResponse, id: number) => void, everything = false) {
  const host = createWalkHost()
  const channel = inProcess(host)
  let steps = 0
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('')
    const { id, method, params } = JSON.parse(body || '{}') as { id: number; method: string; params: JsonObject }
    response.setHeader('content-type', 'application/json')
    if (method === 'tools/call') steps += 1
    if (everything || method === 'tools/call') answer(response, id)
    else if (method === 'server/discover') response.writeHead(404).end(refuse(id, -32601))
    else if (method === 'initialize') response.end(reply(id, greet(params)))
    else if (id === undefined) response.writeHead(202).end()
    else response.end(reply(id, await channel.request(method, params)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/env`,
    steps: () => steps,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await host[Symbol.asyncDispose]()
    },
  }
}

function greet({ protocolVersion }: JsonObject): JsonObject {
  return {
    protocolVersion: protocolVersion as string,
    capabilities: { tools: {}, extensions: { [EXTENSION]: {} } },
    serverInfo: { name: 'bad', version: '1.0.0' },
  }
}

function reply(id: number, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

function refuse(id: number | null, code: number): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'No.' } })
}
