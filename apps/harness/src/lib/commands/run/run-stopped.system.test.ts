import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { summarySchema } from '@episodic/report/fold/summary'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { CLI, exampleWorld, nameOf, openWorkshop, readEpisodes, withoutTimes } from '../../fixtures/episodic.fixture.ts'
import { gatedPolicy } from '../../fixtures/gated-policy.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)
const lines = (out: string) => readFileSync(at(out, 'episodes.jsonl'), 'utf8').split('\n').length - 1

const PLAYED_AT_ONCE = 20
const IN_FLIGHT = 4
const CONFIGURATION = [
  'run',
  world,
  '--policy',
  './gated.ts',
  '--tasks',
  '30',
  '--rollouts',
  '2',
  '--concurrency',
  String(IN_FLIGHT),
]
const open = () => writeFileSync(at('open'), '')
let undisturbed: unknown[]

/** Starts a run, and waits until some episodes are sealed and all others are held in flight. */
async function startHeld(out: string, ...options: string[]) {
  const run = workshop.start([...CONFIGURATION, '--out', out, ...options])
  const held = () => {
    expect(lines(out)).toBe(PLAYED_AT_ONCE)
    expect(readFileSync(at('held'), 'utf8')).toHaveLength(IN_FLIGHT)
  }
  await Promise.race([
    vi.waitFor(held, { timeout: 120_000, interval: 20 }),
    run.ended.then(({ err }) => Promise.reject(new Error(`It ended: ${err}`))),
  ])
  return run
}

beforeAll(async () => {
  writeFileSync(at('gated.ts'), gatedPolicy(PLAYED_AT_ONCE))
  open()
  expect((await workshop.run([...CONFIGURATION, '--out', 'undisturbed'])).status).toBe(0)
  undisturbed = withoutTimes(readEpisodes(at('undisturbed')))
})
beforeEach(() => {
  for (const file of ['open', 'held']) rmSync(at(file), { force: true })
})

describe('episodic run, stopped', () => {
  it.each([['in-process', '--anchors'], ['http'], ['stdio']])(
    'stops at Ctrl-C, keeps what is sealed, and resumes by the printed command, over %s',
    async (transport, ...more) => {
      const out = `it's ${transport}`
      const run = await startHeld(out, '--transport', transport, ...more)
      run.interrupt()
      const { status, err, out: printed } = await run.ended
      expect(status).toBe(130)
      expect(lines(out)).toBe(PLAYED_AT_ONCE)
      expect(printed).toContain('20 finished   0 failed   40 unresolved')
      const [, resume = ''] = /40 episodes are left\. To play them:\n {2}(episodic .*)\n/.exec(err) ?? []
      open()
      await asTyped(resume)
      const resumed = readEpisodes(at(out))
      expect(new Set(resumed.map(nameOf)).size).toBe(resumed.length)
      expect(withoutTimes(resumed)).toEqual(undisturbed)
    },
  )

  it('rejects a second writer, and accepts it after the first was killed', async () => {
    const run = await startHeld('twice')
    const before = readFileSync(at('twice', 'episodes.jsonl'), 'utf8')
    const second = await workshop.run([...CONFIGURATION, '--out', 'twice', '--resume'])
    expect(second).toEqual({
      status: 1,
      out: '',
      err: 'error: twice is being written by another process. Wait for it, stop it, or give another --out.\n',
    })
    expect(readFileSync(at('twice', 'episodes.jsonl'), 'utf8')).toBe(before)
    run.kill('SIGKILL')
    await run.ended
    open()
    expect((await workshop.run([...CONFIGURATION, '--out', 'twice', '--resume'])).status).toBe(0)
    expect(withoutTimes(readEpisodes(at('twice')))).toEqual(undisturbed)
  })

  it('counts the sessions lost with a killed server as failed, stops, and resumes with another server (invariant 3)', async () => {
    const server = await workshop.serve([world])
    const run = await startHeld('lost', '--url', server.url, '--file', '{"retryTimeout":1}')
    server.kill('SIGKILL')
    await server.ended
    open()
    const { status, err, out } = await run.ended
    expect(status).toBe(1)
    expect(err).toMatch(/error: \d+ episodes in a row found no server\. Start it again, then resume the run\.\n$/)
    const failed = readEpisodes(at('lost')).filter(({ outcome }) => outcome.kind === 'failed')
    expect(failed).toHaveLength(IN_FLIGHT)
    for (const { returns, steps, outcome } of failed) {
      expect(returns).toBeNull()
      expect(steps.length).toBeGreaterThan(0)
      expect(outcome).toMatchObject({ error: { code: 'connection-failed' } })
    }
    expect(out).toMatch(/20 finished {3}4 failed {3}36 unresolved[\s\S]*success +100\.0 %/)

    const another = await workshop.serve([world])
    const resumed = await workshop.run([...CONFIGURATION, '--out', 'lost', '--url', another.url, '--resume'])
    expect(resumed.status).toBe(0)
    expect(resumed.out).toContain('56 finished   4 failed   0 unresolved')
    const summary = summarySchema.parse(JSON.parse(readFileSync(at('lost', 'summary.json'), 'utf8')))
    expect(summary.success.overall).toMatchObject({ successes: 56, count: 56 })
    const names = new Set(failed.map(nameOf))
    const finished = readEpisodes(at('lost')).filter((record) => !names.has(nameOf(record)))
    expect(withoutTimes(finished)).toEqual(
      undisturbed.filter((record) => !names.has(nameOf(record as Parameters<typeof nameOf>[0]))),
    )
  })

  it('stops a run whose lock was removed, before it writes beside another run', async () => {
    const first = await startHeld('unlocked')
    rmSync(at('unlocked', 'run.lock'))
    const second = workshop.start([...CONFIGURATION, '--out', 'unlocked', '--resume'])
    await vi.waitFor(() => expect(existsSync(at('unlocked', 'run.lock'))).toBe(true), { timeout: 120_000 })
    open()
    const { status, err } = await first.ended
    expect({ status, err }).toEqual({
      status: 1,
      err: expect.stringContaining('unlocked/run.lock was removed or replaced while this run was writing'),
    })
    expect(await second.ended).toMatchObject({ status: 0 })
    const names = readEpisodes(at('unlocked')).map(nameOf)
    expect(new Set(names).size).toBe(names.length)
    expect(withoutTimes(readEpisodes(at('unlocked')))).toEqual(undisturbed)
  })
})

/** Runs a line as a shell would, with `episodic` on its path. */
async function asTyped(line: string): Promise<void> {
  const bin = at('bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'episodic'), `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`)
  chmodSync(join(bin, 'episodic'), 0o755)
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, EPISODIC_HOME: at('home') }
  await promisify(execFile)('sh', ['-c', line], { cwd: workshop.folder, env })
}
