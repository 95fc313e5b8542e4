import { join } from 'node:path'
import { bisecting, type ChatRequest, startChatServer } from '@episodic/models/chat-server.fixture'
import { startRedis } from '@episodic/run/base/programs.fixture'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, withoutTimes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
const redis = await startRedis()
afterAll(async () => {
  workshop[Symbol.dispose]()
  await redis[Symbol.asyncDispose]()
})

const world = exampleWorld('number-guessing')
const IN_FLIGHT = 4
const play = (url: string, out: string) => [
  ...['run', world, '--policy', 'llm:bisect', '--base-url', url],
  ...['--tasks', '6', '--seed', 'killed', '--out', out],
]
const queue = () => ['--queue', redis.url, '--lease', '5']
const startWorker = (url: string) =>
  workshop.start(['queue', 'work', world, '--base-url', url, '--concurrency', String(IN_FLIGHT), ...queue()])
const asked = (requests: readonly ChatRequest[]) => requests.map((request) => JSON.stringify(request)).toSorted()
/** Returns what a run played, without times. */
const played = (out: string): unknown =>
  JSON.parse(
    JSON.stringify(withoutTimes(readEpisodes(join(workshop.folder, out))), (key, value) =>
      key === 'time' ? undefined : value,
    ),
  )

describe('episodic queue work, with a language model', () => {
  it('pays for no answer again that a killed worker had, and leaves none in the queue', async () => {
    await using quiet = await startChatServer(bisecting)
    expect(await workshop.main(play(quiet.url, 'quiet'))).toMatchObject({ status: 0 })

    const held = Promise.withResolvers<void>()
    let waiting = 0
    let isHolding = true
    await using server = await startChatServer((request, number) => {
      if (!isHolding || number < 9) return bisecting(request)
      if (++waiting === IN_FLIGHT) held.resolve()
      return null
    })
    const first = startWorker(server.url)
    const run = workshop.start([...play(server.url, 'fleet'), ...queue()])
    // Every episode in flight waits for its model, so all answers have arrived.
    await Promise.race([
      held.promise,
      ...[run, first].map(async ({ ended }) => Promise.reject(new Error(`It ended: ${(await ended).err}`))),
    ])
    first.kill('SIGKILL')
    await first.ended
    isHolding = false
    const second = startWorker(server.url)
    expect(await run.ended).toMatchObject({ status: 0 })
    second.kill('SIGINT')
    await second.ended
    const answered = [...server.requests.slice(0, 9), ...server.requests.slice(9 + IN_FLIGHT)]
    expect(asked(answered)).toEqual(asked(quiet.requests))
    expect(played('fleet')).toEqual(played('quiet'))
    await using client = openRedis()
    expect(await client.redis.keys('*answers*')).toEqual([])
  })
})

function openRedis() {
  const client = new Redis(redis.url)
  return {
    redis: client,
    async [Symbol.asyncDispose]() {
      client.disconnect()
    },
  }
}
