import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeRecord } from '@episodic/protocol'
import { runManifestSchema } from '@episodic/run/folder/record/run-folder'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { exampleWorld, nameOf, openWorkshop, readEpisodes, withoutTimes } from '../../fixtures/episodic.fixture.ts'
import { HELD_SEEDS_POLICY, isHeldSeed } from '../../fixtures/held-seeds-policy.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)
const textOf = (out: string) => readFileSync(at(out, 'episodes.jsonl'), 'utf8')

const IN_FLIGHT = 4
const CONFIGURATION = ['run', world, '--policy', './gated.ts', '--tasks', '30', '--rollouts', '2']
const play = (out: string, processes: number) => [
  ...CONFIGURATION,
  ...['--concurrency', String(IN_FLIGHT), '--processes', String(processes), '--out', out],
]
const open = () => writeFileSync(at('open'), '')
/** The processes that hold an episode, each as often as it holds one. */
const holders = () => readFileSync(at('held'), 'utf8').trim().split('\n').map(Number)
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
/** In the order of the plan. */
let planned: EpisodeRecord[]
let undisturbed: unknown[]
/** How many episodes are sealed when all episodes in flight are held. */
let playedAtOnce: number

beforeAll(async () => {
  writeFileSync(at('gated.ts'), HELD_SEEDS_POLICY)
  open()
  expect((await workshop.main([...CONFIGURATION, '--concurrency', '1', '--out', 'undisturbed'])).status).toBe(0)
  planned = readEpisodes(at('undisturbed'))
  undisturbed = withoutTimes(planned)
  const heldOnes = planned.flatMap((record, i) => (isHeldSeed(record) ? [i] : []))
  playedAtOnce = (heldOnes[IN_FLIGHT - 1] as number) - (IN_FLIGHT - 1)
})
beforeEach(() => {
  for (const file of ['open', 'held', 'busy', 'deadly']) rmSync(at(file), { force: true })
})

/** Starts a run of two processes, and waits until both hold their episodes and all others are sealed. */
async function startHeld(out: string) {
  const run = workshop.start(play(out, 2))
  const held = () => {
    expect(textOf(out).split('\n')).toHaveLength(playedAtOnce + 1)
    expect(holders()).toHaveLength(IN_FLIGHT)
  }
  await Promise.race([
    vi.waitFor(held, { timeout: 120_000, interval: 20 }),
    run.ended.then(({ err }) => Promise.reject(new Error(`It ended: ${err}`))),
  ])
  const workers = [...new Set(holders())]
  expect(workers).toHaveLength(2)
  expect(workers).not.toContain(run.pid)
  return { run, workers, before: textOf(out) }
}

describe('episodic run --processes', () => {
  it.each([
    [
      'episodes of a random policy',
      ['--policy', 'random', '--rollouts', '2', '--shaping', '--file', '{"discount":0.9}'],
    ],
    ['trees', ['--branch', '2@1,2@3']],
    ['failures', ['--policy', './moody.ts', '--file', '{"failFast":0}']],
  ])('seals the same %s with any number of processes (invariant 4)', async (name, options) => {
    writeFileSync(
      at('moody.ts'),
      `import { solver } from '${new URL(`file://${world}/src/index.ts`)}'
       export const policy = { name: 'moody', start(context) {
         if (/[0-7]$/.test(context.seed)) throw new Error('not today')
         return solver.start(context)
       } }`,
    )
    const records: EpisodeRecord[][] = []
    for (const processes of ['1', '2', '3']) {
      const out = `${name} ${processes}`
      const ran = await workshop.main([
        'run',
        world,
        '--tasks',
        '25',
        ...options,
        '--processes',
        processes,
        '--out',
        out,
      ])
      expect(ran).toMatchObject({ status: 0, err: expect.stringMatching(/^100 % {2}(\d+)\/\1 /) })
      records.push(readEpisodes(at(out)))
      const manifest = runManifestSchema.parse(JSON.parse(readFileSync(at(out, 'run.json'), 'utf8')))
      expect(manifest.played.processes).toBe(Number(processes))
      for (const { time } of records.at(-1) ?? []) expect(time.ended).toBeGreaterThan(time.started)
    }
    const [one = [], ...others] = records
    expect(one.length).toBeGreaterThanOrEqual(25)
    expect(one.some(({ outcome }) => outcome.kind === 'failed')).toBe(name === 'failures')
    for (const several of others) expect(withoutTimes(several)).toEqual(withoutTimes(one))
  })

  it('plays the episodes of a killed process again, and loses no sealed ones', async () => {
    const { run, workers, before } = await startHeld('killed')
    process.kill(workers[0] as number, 'SIGKILL')
    await vi.waitFor(() => expect(holders()).toHaveLength(IN_FLIGHT + 2), { timeout: 120_000 })
    expect(textOf('killed')).toBe(before)
    open()
    const { status, err, out } = await run.ended
    expect([status, err]).toEqual([
      0,
      expect.stringMatching(/^A process of the run ended with SIGKILL; another takes its place\.\n/),
    ])
    expect(out).toContain('60 finished   0 failed   0 unresolved')
    expect(textOf('killed').startsWith(before)).toBe(true)
    expect(withoutTimes(readEpisodes(at('killed')))).toEqual(undisturbed)
  })

  it.each([
    ['Ctrl-C', 130, 3],
    ['a request to terminate', 143, 1],
  ])(
    'stops all processes at %s, and resumes with another number of processes by the printed command',
    async (how, asExpected, processes) => {
      const { run, workers, before } = await startHeld(how)
      if (asExpected === 130) run.interrupt()
      else run.kill('SIGTERM')
      const { status, out, err } = await run.ended
      expect([status, err]).toEqual([asExpected, expect.stringContaining(`${60 - playedAtOnce} episodes are left`)])
      expect(out).toContain(`${playedAtOnce} finished   0 failed   ${60 - playedAtOnce} unresolved`)
      expect(workers.filter(isAlive)).toEqual([])
      expect(textOf(how)).toBe(before)
      open()
      expect((await workshop.main([...play(how, processes), '--resume'])).status).toBe(0)
      const resumed = readEpisodes(at(how))
      expect(new Set(resumed.map(nameOf)).size).toBe(resumed.length)
      expect(withoutTimes(resumed)).toEqual(undisturbed)
    },
  )

  it('leaves no process behind when it is killed', async () => {
    const { run, workers, before } = await startHeld('orphaned')
    run.kill('SIGKILL')
    await run.ended
    await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), { timeout: 120_000 })
    expect(textOf('orphaned')).toBe(before)
    open()
    expect((await workshop.main([...play('orphaned', 2), '--resume'])).status).toBe(0)
    expect(withoutTimes(readEpisodes(at('orphaned')))).toEqual(undisturbed)
  })

  it.each([
    [['--processes', '0'], 2, /--processes <count>.*Give a whole number from 1 to 256\./],
    [['--processes', '1.5'], 2, /Give a whole number from 1 to 256\./],
    [['--processes', '257'], 2, /Give a whole number from 1 to 256\./],
    [['--processes', 'two'], 2, /Give a whole number from 1 to 256\./],
    [['--processes', '5', '--concurrency', '4'], 2, /^error: --processes 5 is more than the 4 episodes that --concur/],
    [
      ['--processes', '3', '--branch', '4@2', '--concurrency', '8'],
      2,
      /^error: --processes 3 is more than the 2 trees/,
    ],
    [['--processes', '2', '--url', 'http://127.0.0.1:1/env', '--file', '{"retryTimeout":0}'], 1, /^error: [^\n]+\n$/],
  ])('rejects %j', async (options, asExpected, message) => {
    const { status, out, err } = await workshop.main(['run', world, ...options, '--out', 'refused'])
    expect([status, out, err]).toEqual([asExpected, '', expect.stringMatching(message)])
  })

  it('rejects --worker, which only a run gives', async () => {
    const { status, out, err } = await workshop.run(['run', world, '--worker', '--out', 'refused'])
    const message = 'error: Only a run starts its workers. Give it --processes <count>.\n'
    expect([status, out, err]).toEqual([2, '', message])
  })
})
