import { fileURLToPath } from 'node:url'
import { openChannel } from '@episodic/env'
import { type JsonObject, METHOD_SCHEMAS, METHODS, type OpenResult } from '@episodic/protocol'
import { has, startRedis } from '@episodic/run/base/programs.fixture'
import type { RedisServer } from '@episodic/run/base/redis-server'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openWorkshop, type Serving } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

const KUHN = fileURLToPath(import.meta.resolve('@episodic/classics/kuhn-poker'))
const TOKEN = 'the-same-for-all-of-them'
const env = { EPISODIC_CONTROL_TOKEN: TOKEN }

/** Sends one request to the trainer endpoint of a server. */
async function ask({ url }: Serving, method: string, params: JsonObject): Promise<unknown> {
  const channel = await openChannel({ url, token: TOKEN })
  try {
    return await channel.request(method, params)
  } finally {
    await channel.close()
  }
}

/** Opens a session of Kuhn poker. */
async function openGame(server: Serving): Promise<OpenResult> {
  const asked = { environment: 'kuhn-poker', seed: 'cards', requestKey: crypto.randomUUID() }
  return METHOD_SCHEMAS.open.result.parse(await ask(server, METHODS.open, asked))
}

async function connectTo(url: string): Promise<Client> {
  const client = new Client({ name: 'player', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  return client
}

/** The official MCP client at the session URL of a seat, as that server has it. */
async function sitDown({ agentUrl }: Serving, { seats }: OpenResult, seat: string) {
  const client = await connectTo(`${agentUrl}/s/${seats[seat]?.capability}`)
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: args })).structuredContent
  return { act: (move: string) => call('act', { move }), wait: () => call('wait') }
}

/** Plays a game to its end: both calls of each player are held until the other one has moved. */
async function playGame([first, second]: readonly Serving[]): Promise<unknown[]> {
  const opened = await openGame(first as Serving)
  const one = await sitDown(first as Serving, opened, 'first')
  const two = await sitDown(second as Serving, opened, 'second')
  const playTwo = async () => [await two.wait(), await two.act('bet')]
  const playOne = async () => [await one.act('pass'), await one.act('bet')]
  return (await Promise.all([playOne(), playTwo()])).flat()
}

const PLAYED = [
  expect.objectContaining({ moves: 'pb', episode_over: false }),
  expect.objectContaining({ moves: 'pbb', episode_over: true }),
  expect.objectContaining({ moves: 'p', episode_over: false }),
  expect.objectContaining({ moves: 'pbb', episode_over: true }),
]

// Needs redis-server: apt-get install redis-server
describe.skipIf(!has('redis-server'))('two players of one game', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.[Symbol.asyncDispose]())
  const serve = (...options: string[]) => workshop.serve([KUHN, '--store', redis.url, ...options], { env })

  it('are answered when the other one has moved at another server on the same store', async () => {
    expect(await playGame([await serve(), await serve()])).toEqual(PLAYED)
  })

  it('are answered by whichever process behind one port', async () => {
    const server = await serve('--processes', '2')
    for (let game = 0; game < 2; game++) expect(await playGame([server, server])).toEqual(PLAYED)
  })
})

describe('episodic serve --seat', () => {
  it('plays a seat by a policy, so that one client alone can play', async () => {
    const server = await workshop.serve([KUHN, '--seat', 'second=solver'], { env })
    const client = await connectTo(server.agentUrl)
    const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })
    const { structuredContent: created } = await call('create_kuhn_poker')
    expect(created).toMatchObject({ seat: 'first', invitations: {} })
    const { kuhn_poker_id } = created as { kuhn_poker_id: string }
    let { structuredContent: last } = await call('act', { kuhn_poker_id, move: 'pass' })
    // The other seat has checked, which ends the episode, or has bet.
    if ((last as { moves: string }).moves === 'pb')
      last = (await call('act', { kuhn_poker_id, move: 'bet' })).structuredContent
    expect(last).toMatchObject({ episode_over: true, moves: expect.stringMatching(/^p(p|bb)$/) })
    expect(await call('create_kuhn_poker', { seat: 'second' })).toMatchObject({
      isError: true,
      content: [{ text: 'The seat second is taken: this server plays it.' }],
    })
  })

  it.each([
    [['--seat', 'second'], 'Write it as name=value, for example first=random.'],
    [['--seat', 'third=random'], 'error: There is no seat "third". The seats of kuhn-poker are: first, second.'],
    [['--seat', 'first=luck'], 'error: There is no policy "luck".'],
    [['--seat', 'first=random', '--seat', 'first=solver'], 'first is given twice.'],
    [['--seat', 'first=random', '--seat', 'second=random'], 'error: --seat is given for every seat of kuhn-poker.'],
  ])('rejects %j', async (options, message) => {
    const { status, err } = await workshop.main(['serve', KUHN, ...options])
    expect([status, err]).toEqual([2, expect.stringContaining(message)])
  })
})
