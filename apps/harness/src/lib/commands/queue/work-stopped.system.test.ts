import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bisecting, startChatServer } from '@episodic/models/chat-server.fixture'
import type { EpisodeRecord } from '@episodic/protocol'
import { startRedis, type TestRedis } from '@episodic/run/base/programs.fixture'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, withoutTimes } from '../../fixtures/episodic.fixture.ts'
import { HELD_SEEDS_POLICY } from '../../fixtures/held-seeds-policy.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)
const CONFIGURATION = ['run', world, '--policy', './gated.ts', '--tasks', '15', '--rollouts', '2']
const SLOTS = 3
const SENTENCE = /The queue at redis:\/\/127\.0\.0\.1:\d+ does not answer, so this process ends without it\./

let redis: TestRedis
let undisturbed: EpisodeRecord[]

const start = (args: readonly string[], env: Record<string, string> = {}) =>
  // Seconds: soon, and longer than a busy machine keeps a process waiting.
  workshop.start([...args, '--queue', redis.url, '--lease', '3'], { env })
const work = (...options: string[]) => start(['queue', 'work', world, '--concurrency', String(SLOTS), ...options])
const open = () => writeFileSync(at('open'), '')
const held = () => (existsSync(at('held')) ? readFileSync(at('held'), 'utf8').trim().split('\n') : [])
const waitFor = (condition: () => unknown) => vi.waitFor(condition, { timeout: 120_000, interval: 20 })

/** Starts a run of one worker, and waits until all slots of the worker hold an episode. */
async function startHeld(out: string) {
  const worker = work()
  const run = start([...CONFIGURATION, '--out', out])
  await Promise.race([
    waitFor(() => expect(held()).toHaveLength(SLOTS)),
    ...[run, worker].map(async ({ ended }) => Promise.reject(new Error(`It ended: ${(await ended).err}`))),
  ])
  return { worker, run }
}

/** The ways in which a queue is away, each with how it comes back. */
async function killRedis() {
  await redis.kill()
  return () => redis.restart()
}
async function freezeRedis() {
  redis.freeze()
  return async () => redis.thaw()
}

beforeAll(async () => {
  writeFileSync(at('gated.ts'), HELD_SEEDS_POLICY)
  open()
  expect((await workshop.run([...CONFIGURATION, '--out', 'undisturbed'])).status).toBe(0)
  undisturbed = readEpisodes(at('undisturbed'))
})
beforeEach(async () => {
  redis = await startRedis()
  for (const file of ['open', 'held']) rmSync(at(file), { force: true })
})
afterEach(async () => {
  await workshop.killAll()
  await redis[Symbol.asyncDispose]()
})

describe('a process of a fleet that is stopped while Redis is away', () => {
  it('is a worker that plays, with Redis frozen: it ends, and another finishes the run', async () => {
    const { worker, run } = await startHeld('worker')
    const back = await freezeRedis()
    worker.kill('SIGTERM')
    const ended = await worker.ended
    expect(ended.err).toMatch(SENTENCE)
    expect(ended.status).toBe(0)
    await back()
    open()
    work()
    expect(await run.ended).toMatchObject({ status: 0 })
    expect(withoutTimes(readEpisodes(at('worker')))).toEqual(withoutTimes(undisturbed))
  })

  it('is a coordinator, with Redis killed: it ends, and its run is resumed', async () => {
    const { run } = await startHeld('coordinator')
    const back = await killRedis()
    run.kill('SIGINT')
    const ended = await run.ended
    expect(ended.err).toMatch(SENTENCE)
    expect(ended.err).toMatch(/\d+ episodes are left\. To play them:/)
    expect(ended.status).toBe(130)
    await back()
    open()
    const resumed = await start([...CONFIGURATION, '--out', 'coordinator', '--resume']).ended
    expect(resumed).toMatchObject({ status: 0 })
    expect(withoutTimes(readEpisodes(at('coordinator')))).toEqual(withoutTimes(undisturbed))
  })

  it('is a worker without a run, with Redis killed', async () => {
    const worker = work()
    await worker.until(/Waiting for runs/)
    await killRedis()
    worker.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ status: 0 })
  })

  it('is a worker that keeps the answers of a model in Redis, with Redis frozen', async () => {
    const [asked, answer, answered] = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
    let answers = 0
    await using server = await startChatServer(async (request, number, response) => {
      response.once('finish', () => {
        if (++answers > SLOTS) answered?.resolve()
      })
      if (number === SLOTS) asked?.resolve()
      // The first episode is alone until its model has answered.
      if (number > 0) await answer?.promise
      return bisecting(request)
    })
    const options = ['--base-url', server.url]
    const worker = work(...options)
    start(['run', world, '--policy', 'llm:bisect', ...options, '--tasks', '9', '--out', 'models'])
    await asked?.promise
    await freezeRedis()
    // What the model says is to be kept in Redis.
    answer?.resolve()
    await answered?.promise
    worker.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ status: 0, err: expect.stringMatching(SENTENCE) })
  })
})
