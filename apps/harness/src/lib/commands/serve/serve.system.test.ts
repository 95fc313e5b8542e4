import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openChannel } from '@episodic/env'
import { DEFAULT_SEAT, METHOD_SCHEMAS, METHODS } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI, exampleWorld, openWorkshop, type Serving } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
let server: Serving

beforeAll(async () => {
  server = await workshop.serve([world, exampleWorld('frozen-lake')])
})

describe('episodic serve', () => {
  it('keeps its token in a file that only its owner can read, and deletes it at the end', async () => {
    const own = await workshop.serve([world])
    expect(statSync(own.tokenFile).mode & 0o777).toBe(0o600)
    expect(readFileSync(own.tokenFile, 'utf8').trim().length).toBeGreaterThanOrEqual(22)
    own.kill('SIGTERM')
    expect((await own.ended).status).toBe(0)
    expect(existsSync(own.tokenFile)).toBe(false)
  })

  it('prints its URLs, and stops at Ctrl-C', async () => {
    const own = workshop.start(['serve', world, '--port', '0'])
    const [, url] = await own.until(/trainer endpoint {4}(http:\S+)/)
    await own.until(/Ctrl-C stops\./)
    expect((await workshop.main(['sessions', '--url', url as string])).status).toBe(0)
    own.interrupt()
    const { status, out } = await own.ended
    expect(status).toBe(0)
    expect(out).toContain('number-guessing 1.1.0  Find the hidden number')
    expect(out).not.toContain(readableSecret)
  })

  it.each([
    [['--address', '0.0.0.0'], 1, /^error: 0\.0\.0\.0 can be reached from a network/],
    [['--address', '0.0.0.0', '--agent-token', `me=${'x'.repeat(22)}`], 1, /^error: .*List the host names/],
    [['--agent-token', 'x'], 2, /^error: --agent-token x: write <name>=<token>/],
    [
      ['--store', 'sqlite:x.db?mode=ro'],
      2,
      /^error: --store sqlite:x\.db\?mode=ro is written as a URL, .* Give sqlite:<file>/,
    ],
    [['--store', 'sqlite:///x.db'], 2, /^error: --store sqlite:\/\/\/x\.db is written as a URL/],
    [['--store', 'redis'], 2, /^error: --store redis is not a store\. Give memory, sqlite:<file>/],
    [['--processes', '2', '--stdio'], 2, /^error: --processes 2 needs HTTP: a pipe has one process/],
    [['--rate', '10'], 2, /^error: .*'10' is invalid\. Write a rate as calls\/seconds/],
    [['--port', '70000'], 2, /^error: .*'70000' is invalid\. Give a whole number from 0 to 65535/],
  ])('rejects %j', async (options, status, message) => {
    const ended = await workshop.main(['serve', world, '--port', '0', ...options])
    expect([ended.status, ended.out]).toEqual([status, ''])
    expect(ended.err).toMatch(message)
  })

  it('prints what the registry of MCP asks of a package that is ready for it', async () => {
    const folder = join(workshop.folder, 'package')
    mkdirSync(folder)
    const file = join(folder, 'package.json')
    writeFileSync(join(folder, 'world.ts'), `export * from ${JSON.stringify(join(world, 'src/index.ts'))}`)
    writeFileSync(file, JSON.stringify({ name: 'guessing', version: '2.0.1' }))
    const print = () => workshop.main(['serve', join(folder, 'world.ts'), '--server-json'])
    const unready = await print()
    expect([unready.status, unready.out]).toEqual([2, ''])
    expect(unready.err).toContain(
      'an mcpName such as io.github.<user>/number-guessing, and a bin that serves the world',
    )
    const mcpName = 'io.github.someone/number-guessing'
    writeFileSync(file, JSON.stringify({ name: 'guessing', version: '2.0.1', mcpName, bin: 'serve.js' }))
    expect(JSON.parse((await print()).out)).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: mcpName,
      description: 'Find the hidden number in few guesses.',
      version: '2.0.1',
      packages: [{ registryType: 'npm', identifier: 'guessing', version: '2.0.1', transport: { type: 'stdio' } }],
    })
  })

  it('answers an agent that exceeds --rate with 429 and a retry time, and other agents normally', async () => {
    const own = await workshop.serve([world, '--rate', '3/600'])
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    const call = () => fetch(own.agentUrl, { method: 'POST', headers, body })
    for (let i = 0; i < 3; i++) expect((await call()).status).not.toBe(429)
    const refused = await call()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await workshop.main(['sessions', '--url', own.url])).status).toBe(0)
    own.kill('SIGTERM')
  })

  it('also serves its trainer endpoint as a WebSocket', async () => {
    const own = await workshop.serve([world])
    const url = own.url.replace(/^http/, 'ws')
    expect(await workshop.main(['run', world, '--url', url, '--tasks', '3', '--seed', '1'])).toMatchObject({
      status: 0,
    })
    expect((await workshop.main(['tools', '--url', url])).out).toContain('guess')
    own.kill('SIGTERM')
  })

  it.each(['unix:./own.sock', 'tcp://127.0.0.1:7337'])(
    'rejects the URL %s, which is not of a supported transport',
    async (url) => {
      const { status, err } = await workshop.main(['tools', '--url', url])
      expect(status).toBe(2)
      expect(err).toContain(`--url ${url} is not a URL of a server`)
    },
  )

  it('reports a port that is in use', async () => {
    const { status, err } = await workshop.main(['serve', world, '--port', new URL(server.url).port])
    expect(status).toBe(1)
    expect(err).toMatch(/^error: .*\d+.*\n$/)
    expect(err).toMatch(/use/)
    expect(existsSync(server.tokenFile)).toBe(true)
  })

  it('keeps sessions in SQLite across a restart', async () => {
    const options = [world, '--store', 'sqlite:sessions.db']
    const first = await workshop.serve(options)
    const { session } = await openSession(first)
    first.kill('SIGKILL')
    await first.ended
    const second = await workshop.serve(options)
    const channel = await trainer(second)
    expect(await channel.request(METHODS.state, { session })).toMatchObject({ revision: expect.any(Number) })
    await channel.close()
    second.kill('SIGTERM')
    await second.ended
  })
})

describe('episodic tools, call and sessions', () => {
  it('lists the tools of an agent', async () => {
    const { out } = await workshop.main(['tools', '--url', server.agentUrl])
    expect(out).toMatch(
      /^create_game {2}Begin a new game\..*^guess {2}Guess the number\..*\n {2}game_id: string.*, value: integer/ms,
    )
    const json = await workshop.main(['tools', '--url', server.agentUrl, '--json'])
    expect(JSON.parse(json.out)).toMatchObject([{ name: 'create_game' }, { name: 'guess' }, { name: 'destroy_game' }])
  })

  it('uses stdio with a process from a configuration file', async () => {
    const served = { command: process.execPath, args: [CLI, 'serve', world, '--stdio'] }
    writeFileSync(join(workshop.folder, 'servers.json'), JSON.stringify({ mcpServers: { guessing: served } }))
    const { status, out, err } = await workshop.main(['tools', '--config', 'servers.json', '--raw'])
    expect([status, out]).toEqual([0, expect.stringContaining('guess  Guess the number.')])
    expect(err).not.toMatch(/dev\.episodic/)
  })

  it('calls a tool, and prints the messages if requested', async () => {
    // Each call plays a game of its own: a first guess may be right, which ends its game.
    const createGame = async () => {
      const created = await workshop.main(['call', 'create_game', '--url', server.agentUrl])
      expect(created.out).toMatch(/^game_id: mcp_.*\nGuess a whole number/)
      return created.out.replace(': ', '=').split('\n')[0] as string
    }
    const said = await workshop.main(['call', 'guess', await createGame(), 'value=50', '--url', server.agentUrl])
    expect([said.status, said.err]).toEqual([0, ''])
    expect(said.out).toMatch(/^The number is (higher|lower) than 50\.|^50 is correct/)
    const guess = ['call', 'guess', await createGame(), 'value=50', '--url', server.agentUrl]
    const raw = await workshop.main([...guess, '--json', '--raw'])
    expect(JSON.parse(raw.out)).toMatchObject({ structuredContent: { value: 50 } })
    expect(raw.err).toMatch(/^→ \{.*"tools\/call".*\}$/m)
    expect(raw.err).toMatch(/^← \{.*"structuredContent".*\}$/m)
    // Nothing of the trainer plane passes the agent endpoint (invariant 3).
    expect(raw.err + raw.out).not.toMatch(/reward|potential|dev\.episodic/)
    const both = [await createGame(), '--args', '{"value":1}', 'value=2', '--url', server.agentUrl]
    const all = await workshop.main(['call', 'guess', ...both])
    expect(all.out).toMatch(/than 2\.|2 is correct/)
  })

  it('exits with 1 if the tool refuses, and with 2 for an invalid argument', async () => {
    expect((await workshop.main(['call', 'guess', 'value=x', '--url', server.agentUrl])).status).toBe(1)
    const words = await workshop.main(['call', 'guess', 'value', '--url', server.agentUrl])
    expect([words.status, words.err]).toEqual([2, expect.stringContaining('Write name=value')])
    const args = await workshop.main(['call', 'guess', '--args', '[1]', '--url', server.agentUrl])
    expect([args.status, args.err]).toEqual([2, expect.stringContaining('--args [1] is not a JSON object')])
  })

  it('lists the open sessions, without secrets', async () => {
    const { id, session, seats } = await openSession(server)
    const list = ['sessions', '--url', server.url, '--limit', '1000']
    const table = await workshop.main(list)
    const json = await workshop.main([...list, '--json'])
    expect(table.out).toContain(id)
    expect(table.out).toMatch(/^SESSION +ENVIRONMENT +OWNER/)
    expect(JSON.parse(json.out).sessions).toContainEqual(
      expect.objectContaining({ id, environment: 'number-guessing' }),
    )
    for (const secret of [session, seats[DEFAULT_SEAT]?.capability as string])
      expect(table.out + json.out).not.toContain(secret)
  })

  it('does not list sessions to agents', async () => {
    const { status, err } = await workshop.main(['sessions', '--url', server.agentUrl])
    expect([status, err]).toEqual([
      2,
      'error: Only the trainer endpoint lists sessions. Give its URL, which ends in /env.\n',
    ])
  })

  it.each([
    ['a wrong token', () => ['--url', server.url, '--token', 'wrong'.repeat(8)], /401|token/i],
    ['the agent endpoint', () => ['--url', server.agentUrl], /environment/],
  ])('reports that it was given %s, and starts no run', async (_, endpoint, message) => {
    const { status, err } = await workshop.main(['run', world, '--out', 'none', ...endpoint()])
    expect(status).toBe(1)
    expect(err).toMatch(/^error: [^\n]*\n$/)
    expect(err).toMatch(message)
    expect(existsSync(join(workshop.folder, 'none'))).toBe(false)
  })

  it('rejects a server with another version of the world', async () => {
    const next = `import { environment as served } from '${pathToFileURL(join(world, 'src/index.ts'))}'
      export const environment = { ...served, version: '2.0.0' }`
    writeFileSync(join(workshop.folder, 'next.ts'), next)
    const { status, err } = await workshop.main(['run', './next.ts', '--out', 'none', '--url', server.url])
    expect([status, err]).toEqual([
      1,
      expect.stringMatching(/plays number-guessing 1\.\d+\.0, and this run plays 2\.0\.0/),
    ])
    expect(existsSync(join(workshop.folder, 'none'))).toBe(false)
  })
})

/** What a control token looks like. */
const readableSecret = /(?<![\w/.-])[\w-]{22,}(?![\w/.-])/

async function trainer({ url, tokenFile }: Serving) {
  return openChannel({ url, token: readFileSync(tokenFile, 'utf8').trim() })
}

async function openSession(serving: Serving) {
  const channel = await trainer(serving)
  const asked = { environment: 'number-guessing', requestKey: crypto.randomUUID() }
  const opened = METHOD_SCHEMAS.open.result.parse(await channel.request(METHODS.open, asked))
  await channel.close()
  return opened
}
