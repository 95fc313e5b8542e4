import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { bisecting, startChatServer } from '@episodic/models/chat-server.fixture'
import type { EpisodeRecord } from '@episodic/protocol'
import { startRedis } from '@episodic/run/base/programs.fixture'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { exampleWorld, nameOf, openWorkshop, readEpisodes, withoutTimes } from '../../fixtures/episodic.fixture.ts'
import { HELD_SEEDS_POLICY } from '../../fixtures/held-seeds-policy.fixture.ts'

const workshop = openWorkshop()
const redis = await startRedis()
const admin = new Redis(redis.url)
afterAll(async () => {
  workshop[Symbol.dispose]()
  admin.disconnect()
  await redis[Symbol.asyncDispose]()
})
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)
const textOf = (out: string) =>
  existsSync(at(out, 'episodes.jsonl')) ? readFileSync(at(out, 'episodes.jsonl'), 'utf8') : ''
const QUEUE = ['--queue', redis.url]
/** Seconds: soon, and longer than a busy machine keeps a process waiting. */
const SOON = ['--lease', '3']

const CONFIGURATION = ['run', world, '--policy', './gated.ts', '--tasks', '30', '--rollouts', '2']
const SLOTS = 3
const open = () => writeFileSync(at('open'), '')
/** The processes that hold an episode, each as often as it holds one. */
const holders = () => (existsSync(at('held')) ? readFileSync(at('held'), 'utf8').trim().split('\n').map(Number) : [])
const holds = (pid: number) => holders().filter((holder) => holder === pid).length
const waitFor = (condition: () => unknown) => vi.waitFor(condition, { timeout: 120_000, interval: 20 })

/** All episodes of the configuration, as one process plays them. */
let undisturbed: EpisodeRecord[]

const start = (args: readonly string[], env: Record<string, string> = {}) => workshop.start(args, { env })
const work = (options: readonly string[] = [], env: Record<string, string> = {}) =>
  start(['queue', 'work', world, ...QUEUE, '--concurrency', String(SLOTS), ...SOON, ...options], env)
const coordinate = (out: string, ...options: string[]) =>
  start([...CONFIGURATION, ...QUEUE, ...SOON, '--out', out, ...options])

beforeAll(async () => {
  writeFileSync(at('gated.ts'), HELD_SEEDS_POLICY)
  open()
  expect((await workshop.main([...CONFIGURATION, '--out', 'undisturbed'])).status).toBe(0)
  undisturbed = readEpisodes(at('undisturbed'))
  rmSync(at('open'))
})
afterEach(async () => {
  await workshop.killAll()
  for (const file of ['open', 'held', 'deadly']) rmSync(at(file), { force: true })
  await admin.flushall()
})

/** Starts a run of two workers, and waits until all of their slots hold an episode. */
async function startHeld(out: string, ...options: string[]) {
  rmSync(at('held'), { force: true })
  const pair = [work(), work()] as const
  const run = coordinate(out, ...options)
  await Promise.race([
    waitFor(() => {
      for (const { pid } of pair) expect(holds(pid)).toBeGreaterThanOrEqual(SLOTS)
    }),
    run.ended.then(({ err }) => Promise.reject(new Error(`It ended: ${err}`))),
  ])
  return { run, pair }
}

/** What is in the queue. */
const status = async () => JSON.parse((await workshop.main(['queue', 'status', ...QUEUE, '--json'])).out)

/** The lines of a run without their values, which have every key in its place. */
function shapesOf(out: string): string[] {
  const shape = (_: string, value: unknown) => (typeof value === 'object' ? value : 0)
  return textOf(out)
    .trim()
    .split('\n')
    .map((line) => JSON.stringify(JSON.parse(line, shape)))
    .sort()
}

/** Without the times of answers of models either. */
function untimed(episodes: readonly EpisodeRecord[]): unknown {
  return JSON.parse(JSON.stringify(withoutTimes(episodes), (key, value) => (key === 'time' ? undefined : value)))
}

/** Expects each episode once, with the same bytes as in one process, but times. */
function expectAll(out: string): void {
  const episodes = readEpisodes(at(out))
  expect(new Set(episodes.map(nameOf)).size).toBe(episodes.length)
  expect(withoutTimes(episodes)).toEqual(withoutTimes(undisturbed))
}

describe('episodic run --queue', () => {
  it('seals in a fleet what one process seals: rollouts, trees, failures, models and agents (invariant 4)', async () => {
    const model = await startChatServer(bisecting)
    const agent = new URL('../../fixtures/agents/guessing-agent.fixture.ts', import.meta.url).pathname
    writeFileSync(
      at('moody.ts'),
      `import { solver } from '${new URL(`file://${world}/src/index.ts`)}'
       export const policy = { name: 'moody', start(context) {
         if (/[0-7]$/.test(context.seed)) throw new Error('not today')
         return solver.start(context)
       } }`,
    )
    const asked: [string, readonly string[]][] = [
      ['rollouts', ['--policy', 'random', '--rollouts', '2', '--shaping', '--file', '{"discount":0.9}']],
      ['trees', ['--branch', '2@1,2@3']],
      ['failures', ['--policy', './moody.ts', '--file', '{"failFast":0}']],
      ['models', ['--policy', 'llm:bisect', '--base-url', model.url]],
      ['agents', ['--policy', `process:${process.execPath} ${agent}`, '--rollouts', '1', '--tasks', '2']],
    ]
    const env = { OPENAI_API_KEY: 'sk-nobody-may-read-this' }
    // All episodes of a tree are in flight together.
    const options = ['--base-url', model.url, '--allow-agents', '--concurrency', '4']
    work(options, env)
    work(options, env)
    for (const [name, options] of asked) {
      const args = ['run', world, '--tasks', '12', ...options]
      expect(await workshop.main([...args, '--out', `alone-${name}`], { env })).toMatchObject({ status: 0 })
      const ended = await workshop.main([...args, ...QUEUE, '--out', name], { env })
      expect(ended).toMatchObject({ status: 0 })
      const [alone, together] = [readEpisodes(at(`alone-${name}`)), readEpisodes(at(name))]
      expect(alone.length).toBeGreaterThanOrEqual(2)
      expect(alone.some(({ outcome }) => outcome.kind === 'failed')).toBe(name === 'failures')
      expect(untimed(together)).toEqual(untimed(alone))
      expect(shapesOf(name)).toEqual(shapesOf(`alone-${name}`))
      for (const { time } of together) expect(time.ended).toBeGreaterThan(time.started)
      // Nothing of a run that is complete is left. What BullMQ has is removed too, until workers that leave note
      // something.
      const left = (await admin.keys('*:run*')).filter((key) => !key.includes(':bull:'))
      expect(left).toEqual([])
    }
    expect(JSON.stringify(await admin.keys('*'))).not.toContain('sk-nobody')
    await model[Symbol.asyncDispose]()
  })

  it.each([
    ['http://127.0.0.1:6379', 2, /^error: --queue http:\/\/127\.0\.0\.1:6379 is not the URL of a Redis\. Give redis:/],
    ['redis://127.0.0.1:6379/abc', 2, /^error: --queue redis:\/\/127\.0\.0\.1:6379\/abc names no database of a Redis/],
    [
      `${redis.url}/9999`,
      1,
      /^error: No Redis answers .*\(ERR DB index is out of range\)\. It has no database of that/,
    ],
    ['redis://user:secret@127.0.0.1:1', 1, /^error: No Redis answers at redis:\/\/127\.0\.0\.1:1 \(.*ECONNREFUSED/],
  ])('refuses the queue %s, on every command, and leaves nothing', async (url, status, message) => {
    for (const args of [
      ['run', world, '--out', 'refused'],
      ['queue', 'work', world],
      ['queue', 'status'],
    ]) {
      const ended = await workshop.main([...args, '--queue', url])
      expect([ended.status, ended.out, ended.err]).toEqual([status, '', expect.stringMatching(message)])
      expect(ended.err).not.toContain('secret')
    }
    expect(existsSync(at('refused'))).toBe(false)
  })

  it('refuses a port at which something else answers, or nothing', async () => {
    for (const answer of ['HTTP/1.1 400 Bad Request\r\n\r\n', null]) {
      const server = createServer((socket) => {
        socket.on('error', () => {})
        if (answer) socket.end(answer)
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as { port: number }
      const ended = await workshop.main(['queue', 'status', '--queue', `redis://127.0.0.1:${port}`])
      expect(ended.err).toMatch(/^error: No Redis answers at redis:\/\/127\.0\.0\.1:\d+ \(/)
      if (answer) expect(ended.err).toContain('What answers there is no Redis.')
      expect(ended.status).toBe(1)
      server.close()
    }
  })

  it.each([
    [
      ['--concurrency', '8'],
      '--concurrency is for episodes that this process plays, and with --queue the workers play',
    ],
    [['--processes', '2'], '--processes starts workers on this machine, and --queue uses those that are there.'],
    [['--config', 'servers.json'], '--config names servers of this machine, which the workers of --queue do not have.'],
  ])('refuses %j', async (options, message) => {
    writeFileSync(at('servers.json'), JSON.stringify({ mcpServers: { own: { command: 'none' } } }))
    const ended = await workshop.main(['run', world, ...QUEUE, ...options, '--out', 'refused'])
    expect(ended.status).toBe(2)
    expect(ended.err).toContain(`error: ${message}`)
    expect(existsSync(at('refused'))).toBe(false)
  })

  it('plays nothing with a worker that has another version, and says so on both sides', async () => {
    writeFileSync(
      at('other-version.ts'),
      `import { environment as own } from '${new URL(`file://${world}/src/index.ts`)}'
       export const environment = { ...own, version: '0.0.9' }`,
    )
    const worker = start(['queue', 'work', './other-version.ts', ...QUEUE, ...SOON])
    const run = start(['run', world, '--tasks', '3', ...QUEUE, ...SOON, '--out', 'versions'])
    const why = /It plays number-guessing (\S+), and this worker has number-guessing 0\.0\.9\. Install that version\./
    await worker.until(why)
    await run.until(why)
    await run.until(/No worker plays this run now\. Start one: episodic queue work --queue/)
    expect(textOf('versions')).toBe('')
    work()
    expect(await run.ended).toMatchObject({ status: 0 })
    expect(readEpisodes(at('versions'))).toHaveLength(3)
  })

  it('refuses jobs and results that were changed in the queue, and plays their episodes from good ones', async () => {
    const env = { EPISODIC_QUEUE_SECRET: 'one that only they have' }
    const paused = await workshop.main(['queue', 'pause', ...QUEUE])
    expect(paused.out).toContain('paused')
    const run = start(['run', world, '--tasks', '3', ...QUEUE, ...SOON, '--out', 'signed'], env)
    let jobs: string[] = []
    await waitFor(async () => {
      jobs = await admin.keys(`*:bull:run-*:e${'?'.repeat(24)}`)
      expect(jobs).toHaveLength(3)
    })
    const data = (await admin.hget(jobs[0] ?? '', 'data')) ?? ''
    await admin.hset(jobs[0] ?? '', 'data', data.replace('"attempt\\":0', '"attempt\\":7'))
    expect(await admin.hget(jobs[0] ?? '', 'data')).not.toBe(data)
    const without = work()
    await without.until(/Does not play the run \S+: Its digest does not fit.*EPISODIC_QUEUE_SECRET/)
    const worker = work([], env)
    await worker.until(/Plays signed/)
    expect((await workshop.main(['queue', 'resume', ...QUEUE])).out).toContain('2 workers')
    const { status, err } = await run.ended
    expect(err).toMatch(
      /, attempt 0: a text in the queue was refused\. Its signature does not fit.* It is played again\./,
    )
    expect(status).toBe(0)
    expect(readEpisodes(at('signed')).map(({ attempt }) => attempt)).toEqual([0, 0, 0])
  })

  it('plays a result again that was changed in the queue while the run had no coordinator', async () => {
    const { run } = await startHeld('changed')
    run.kill('SIGKILL')
    await run.ended
    open()
    let stream = ''
    await waitFor(async () => {
      stream = (await admin.keys('*:results'))[0] ?? ''
      expect(await admin.xlen(stream)).toBeGreaterThanOrEqual(2 * SLOTS)
    })
    // Workers seal what they play, and take no more once the coordinator has been silent for its lease.
    await waitFor(async () =>
      expect(await status()).toMatchObject({
        runs: [{ coordinator: null, playing: 0 }],
        workers: [{ plays: [] }, { plays: [] }],
      }),
    )
    const entries = await admin.xrange(stream, '-', '+')
    // The first of them may be of episodes that the run has stored.
    const changed = entries.at(-1)
    await admin.del(stream)
    for (const [key, [job, id = '', name, text = '']] of entries) {
      const kept = key === changed?.[0] ? text.replace(/"returns":\{"[a-z]+":/, '$&9') : text
      if (key === changed?.[0]) expect(kept).not.toBe(text)
      await admin.xadd(stream, key, job ?? '', id, name ?? '', kept)
    }
    const resumed = await coordinate('changed', '--resume').ended
    expect(resumed.err).toMatch(
      /, attempt \d: a text in the queue was refused\. Its digest does not fit: it was changed in the queue, .* It is played again\./,
    )
    expect(resumed.err.match(/was refused/g)).toHaveLength(1)
    expect(resumed.status).toBe(0)
    expectAll('changed')
  })

  it('shows, drains and cleans up a queue', async () => {
    const { run } = await startHeld('shown')
    const { out } = await workshop.main(['queue', 'status', ...QUEUE, '--json'])
    const status = JSON.parse(out)
    expect(status).toMatchObject({ paused: false, runs: [{ name: 'shown', playing: 2 * SLOTS }] })
    expect(status.workers.map(({ slots }: { slots: number }) => slots)).toEqual([SLOTS, SLOTS])
    const [{ id }] = status.runs
    expect((await workshop.main(['queue', 'remove', id, ...QUEUE])).err).toContain('has no interrupted run')
    const drained = start(['queue', 'drain', ...QUEUE])
    await drained.until(/6 episodes are being played/)
    open()
    expect((await drained.ended).out).toContain('0 played now')
    run.interrupt()
    expect((await run.ended).status).toBe(130)
    const left = await workshop.main(['queue', 'status', ...QUEUE])
    const after = await workshop.main(['queue', 'remove', id, ...QUEUE])
    if (left.out.includes(id)) expect(after.status).toBe(0)
    expect((await workshop.main(['queue', 'resume', ...QUEUE])).out).toContain('No runs.')
  })

  it('leaves an episode that ends every worker, and loses no other', async () => {
    open()
    const deadly = undisturbed[7] as EpisodeRecord
    writeFileSync(at('deadly'), deadly.policy.seed)
    const run = coordinate('deadly-one')
    // As a supervisor would, starts a worker again when it has ended.
    let isOver = false
    const supervised = (async () => {
      while (!isOver) await Promise.race([work().ended, run.ended])
    })()
    const { status, out, err } = await run.ended
    isOver = true
    await supervised
    expect(out).toContain('59 finished   0 failed   1 unresolved')
    expect(err).toContain(`${deadly.task.id}, attempt ${deadly.attempt}, is left unplayed: 3 workers ended while`)
    expect(status).toBe(1)
    const others = undisturbed.filter((record) => record !== deadly)
    expect(withoutTimes(readEpisodes(at('deadly-one')))).toEqual(withoutTimes(others))
  })
})
