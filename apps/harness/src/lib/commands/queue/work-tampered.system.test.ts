import { join } from 'node:path'
import { startRedis } from '@episodic/runs/base/programs.fixture'
import { Redis } from 'ioredis'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import {
  exampleWorld,
  openWorkshop,
  readEpisodes,
  type Started,
  withoutTimes,
} from '../../fixtures/episodic.fixture.ts'
import { signedPlaces } from '../../fleet/fleet-messages.ts'
import { createSigner } from '../../fleet/signer.ts'

const workshop = openWorkshop()
const redis = await startRedis()
const admin = new Redis(redis.url)
afterAll(async () => {
  workshop[Symbol.dispose]()
  admin.disconnect()
  await redis[Symbol.asyncDispose]()
})
const world = exampleWorld('number-guessing')
// Longer than any test: whatever is lost until a lease ends is lost here.
const QUEUE = ['--queue', redis.url, '--lease', '3600']
const start = (args: readonly string[]) => workshop.start([...args, ...QUEUE])
afterEach(async () => {
  await workshop.killAll()
  await admin.flushall()
})

const TASKS = 3
const configuration = (seed: string) => ['run', world, '--tasks', String(TASKS), '--seed', seed]
const episodes = (out: string) => withoutTimes(readEpisodes(join(workshop.folder, out)))

/** A job in the queue. */
interface Job {
  readonly key: string
  readonly run: string
  readonly id: string
  /** What BullMQ keeps of it. */
  readonly data: string
}

/** Starts runs of these seeds while no jobs are given out, and waits for their jobs. */
async function startPaused(...seeds: string[]) {
  expect(await workshop.main(['queue', 'pause', '--queue', redis.url])).toMatchObject({ status: 0 })
  const runs = seeds.map((seed) => start([...configuration(seed), '--out', seed]))
  const jobs: Job[] = []
  await vi.waitFor(
    async () => {
      const keys = await admin.keys(`*:bull:run-*:e${'?'.repeat(24)}`)
      expect(keys).toHaveLength(TASKS * seeds.length)
      for (const key of keys) {
        const [, run = '', id = ''] = /run-(\w+):(\S+)$/.exec(key) ?? []
        jobs.push({ key, run, id, data: (await admin.hget(key, 'data')) ?? '' })
      }
    },
    { timeout: 120_000, interval: 20 },
  )
  return { runs, jobs }
}
const change = ({ key }: Job, data: string) => admin.hset(key, 'data', data)
const resume = () => workshop.main(['queue', 'resume', '--queue', redis.url])

/** Expects that a run ends with what one process plays. */
async function expectAll(run: Started, seed: string): Promise<string> {
  const { status, err } = await run.ended
  expect(err).not.toContain('unplayed')
  expect(status).toBe(0)
  expect(await workshop.main([...configuration(seed), '--out', `alone-${seed}`])).toMatchObject({ status: 0 })
  expect(episodes(seed)).toEqual(episodes(`alone-${seed}`))
  return err
}

describe('a job that was changed in the queue', () => {
  it('is played as it was, if it is of another run', async () => {
    const { runs, jobs } = await startPaused('one', 'other')
    const [first] = jobs as [Job]
    const other = jobs.find(({ run }) => run !== first.run) as Job
    await change(first, other.data)
    await change(other, first.data)
    start(['queue', 'work', world])
    await resume()
    for (const [i, seed] of ['one', 'other'].entries())
      expect(await expectAll(runs[i] as Started, seed)).toContain(
        'a text in the queue was refused. Its digest does not fit',
      )
  })

  it.each([
    ['nothing', 'is no JSON', () => '{"payload":"'],
    ['empty', 'has no text', () => '{}'],
    ['short', 'asks for no episode', ({ run, id }: Job) => signed(run, id, '{"task":{"id":"1"},"attempt":0}')],
    [
      'elsewhere',
      'is of another environment',
      ({ run, id, data }: Job) => signed(run, id, textOf(data).replaceAll('number-guessing', 'frozen-lake')),
    ],
  ])('is played as it was, if what was put there (%s) %s', async (seed, _, changed) => {
    const { runs, jobs } = await startPaused(seed)
    const [job] = jobs as [Job]
    const data = changed(job)
    expect(data).not.toBe(job.data)
    await change(job, data)
    start(['queue', 'work', world])
    await resume()
    expect(await expectAll(runs[0] as Started, seed)).toContain('a text in the queue was refused.')
  })
})

describe('a run that is put back into the queue after its end', () => {
  it('is declined, though everything of it was signed with the secret', async () => {
    const env = { EPISODIC_QUEUE_SECRET: 'a secret' }
    const queue = ['--queue', redis.url, '--lease', '5']
    const begin = (args: readonly string[]) => workshop.start([...args, ...queue], { env })
    expect(await workshop.main(['queue', 'pause', '--queue', redis.url])).toMatchObject({ status: 0 })
    const run = begin([...configuration('copied'), '--out', 'copied'])
    const jobs = `*:bull:run-*:e${'?'.repeat(24)}`
    await vi.waitFor(async () => expect(await admin.keys(jobs)).toHaveLength(TASKS), { timeout: 120_000, interval: 20 })
    const keys = await admin.keys('*')
    const copies = await Promise.all(keys.map(async (key) => [key, await admin.dumpBuffer(key)] as const))
    await resume()
    begin(['queue', 'work', world])
    expect(await run.ended).toMatchObject({ status: 0 })
    await workshop.killAll()
    expect(await admin.keys(jobs)).toEqual([])

    await admin.flushall()
    for (const [key, copy] of copies) await admin.restore(key, 0, copy as Buffer)
    const [lease = ''] = await admin.keys('*:lease')
    const until = Number(await admin.hget(lease, 'until'))
    // What is not signed can be written anew.
    await admin.hset(lease, 'until', until + 3_600_000)
    await resume()
    const isOver = async () => expect(1_000 * ((await admin.time())[0] ?? 0)).toBeGreaterThan(until)
    await vi.waitFor(isOver, { timeout: 120_000, interval: 50 })
    const worker = begin(['queue', 'work', world])
    await worker.until(/Does not play the run \w+: Its coordinator has signed no sign of life for this time/)
    expect(await admin.keys(jobs)).toHaveLength(TASKS)
  })
})

/** Without a secret, anyone can sign. */
function signed(run: string, job: string, text: string): string {
  return JSON.stringify({ payload: createSigner(null).sign(signedPlaces.job(run, job), text) })
}

function textOf(data: string): string {
  return JSON.parse(data).payload.slice(43)
}
