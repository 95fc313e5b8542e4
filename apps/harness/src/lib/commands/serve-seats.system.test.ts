import { fileURLToPath } from 'node:url'
import { openChannel } from '@episodic/env/extend'
import { METHOD_SCHEMAS, METHODS, type OpenResult } from '@episodic/protocol'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openWorkshop, type Serving } from '../episodic.fixture.ts'
import { has, startRedis } from '../programs.fixture.ts'
import type { RedisServer } from '../redis-server.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

const KUHN = fileURLToPath(import.meta.resolve('@episodic/classics/kuhn-poker'))
const TOKEN = 'the-same-for-all-of-them'
const env = { EPISODIC_CONTROL_TOKEN: TOKEN }

/** Opens a session of Kuhn poker. */
async function openGame({ url }: Serving): Promise<OpenResult> {
  const channel = await openChannel({ url, token: TOKEN })
  try {
    const asked = { environment: 'kuhn-poker', seed: 'cards', requestKey: crypto.randomUUID() }
    return METHOD_SCHEMAS.open.result.parse(await channel.request(METHODS.open, asked))
  } finally {
    await channel.close()
  }
}

/** The official MCP client at the session URL of a seat, as that server has it. */
async function sitDown({ agentUrl }: Serving, { seats }: OpenResult, seat: string) {
  const client = new Client({ name: seat, version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${agentUrl}/s/${seats[seat]?.capability}`))
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
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
    expect(await playGame([await serve(), await serve('--worker-threads')])).toEqual(PLAYED)
  })

  it('are answered by whichever process behind one port', async () => {
    const server = await serve('--processes', '2')
    for (let game = 0; game < 2; game++) expect(await playGame([server, server])).toEqual(PLAYED)
  })
})
