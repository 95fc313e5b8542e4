import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openChannel } from '@episodic/env'
import { DEFAULT_SEAT, METHOD_SCHEMAS, METHODS } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, type Serving } from '../../fixtures/episodic.fixture.ts'

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

  it.each(['unix:./own.sock', 'tcp://127.0.0.1:7337'])(
    'rejects the URL %s, which is not of a supported transport',
    async (url) => {
      const { status, err } = await workshop.main(['sessions', '--url', url])
      expect(status).toBe(2)
      expect(err).toContain(`--url ${url} is not a URL of a server`)
    },
  )
})

describe('episodic sessions', () => {
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
