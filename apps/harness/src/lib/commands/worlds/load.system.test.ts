import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const SMALL = ['--sessions', '8', '--in-flight', '4', '--steps', '200', '--seconds', '600']

async function load(...args: string[]) {
  const { status, out, err } = await workshop.main(['load', ...args, '--json'])
  return { status, err, report: out === '' ? null : JSON.parse(out) }
}

describe('episodic load', () => {
  it('starts a server, steps it, and reports latency and the processor time of a step', async () => {
    const { status, report } = await load(world, ...SMALL)
    expect({ status, report }).toMatchObject({
      status: 0,
      report: {
        environment: { name: 'number-guessing' },
        transport: 'http',
        policy: 'solver',
        sessions: 8,
        inFlight: 4,
        steps: 200,
        failures: [],
        interrupted: false,
      },
    })
    const { latency, opened, seconds, stepsPerSecond, serverCpuMicrosecondsPerStep } = report
    const { p50, p90, p99, max } = latency
    expect([p50, p90, p99, max]).toEqual([p50, p90, p99, max].toSorted((a, b) => a - b))
    expect(p50).toBeGreaterThan(0)
    expect(opened).toBeGreaterThanOrEqual(8)
    expect(stepsPerSecond).toBeCloseTo(200 / seconds)
    expect(serverCpuMicrosecondsPerStep).toBeGreaterThan(0)
  })

  it.each(['stdio', 'in-process'])('measures over %s, without the processor time of the server', async (transport) => {
    expect(await load(world, ...SMALL, '--transport', transport, '--policy', 'random')).toMatchObject({
      status: 0,
      report: {
        transport: transport,
        policy: 'random',
        steps: 200,
        failures: [],
        serverCpuMicrosecondsPerStep: null,
      },
    })
  })

  it('measures a running server, and prints a readable summary', async () => {
    const server = await workshop.serve([world])
    const { status, out } = await workshop.main(['load', world, ...SMALL, '--url', server.url])
    expect(status).toBe(0)
    expect(out).toMatch(/steps\/s +\d+ {3}200 steps \(\d+ refused\) in [\d.]+ s, \d+ sessions opened/)
    expect(out).toMatch(/latency +p50 [\d.]+ ms {3}p90 [\d.]+ ms {3}p99 [\d.]+ ms {3}max [\d.]+ ms/)
    expect(out).toMatch(/server CPU +\d+ µs a step/)
    expect(await workshop.main(['sessions', '--url', server.url])).toMatchObject({
      out: expect.stringContaining('0 of 0'),
    })
    server.kill('SIGTERM')
    await server.ended
  })

  it('plays legal actions if the world lists them', async () => {
    // Without the legal actions, a random choice would be refused half of the time.
    const known = COIN_WORLD.replace(
      'params: z.object({}),',
      'params: z.object({}), legal: () => ({ toss: [{ heads: true }] }),',
    )
      .replace('play({ state, input, end, reveal, say }) {', '$& if (!input.heads) return refuse("Only heads.")')
      .replace('reveal, say', 'reveal, refuse, say')
    writeFileSync(join(workshop.folder, 'known.ts'), known)
    expect(await load('./known.ts', ...SMALL, '--policy', 'random')).toMatchObject({
      status: 0,
      report: { steps: 200, refused: 0, failures: [] },
    })
  })

  it('ends on time if a step is never answered', async () => {
    const silent = COIN_WORLD.replace(
      'play({ state, input, end, reveal, say }) {',
      'prepared: z.null(), prepareSeconds: 3600, prepare: () => new Promise(() => {}), $&',
    )
    writeFileSync(join(workshop.folder, 'silent.ts'), silent)
    const { status, report, err } = await load(
      './silent.ts',
      '--sessions',
      '2',
      '--seconds',
      '1',
      '--transport',
      'in-process',
    )
    expect(report).toMatchObject({ steps: 0, failures: [], interrupted: false })
    expect([status, err]).toEqual([1, expect.stringContaining('No step was answered.')])
  })

  it('counts failures by code, and exits with 1', async () => {
    const broken = COIN_WORLD.replace('state.public.tossed = true', "if (input.heads) throw new Error('broken')")
    writeFileSync(join(workshop.folder, 'broken.ts'), broken)
    const { status, report } = await load('./broken.ts', ...SMALL)
    expect(status).toBe(1)
    expect(report.steps).toBe(200)
    expect(report.failures).toMatchObject([{ code: 'environment-failed', count: expect.any(Number) }])
    writeFileSync(
      join(workshop.folder, 'dead.ts'),
      COIN_WORLD.replace('state.public.tossed = true', "throw new Error('dead')"),
    )
    expect(await load('./dead.ts', ...SMALL)).toMatchObject({
      status: 1,
      err: expect.stringContaining('No step was answered.'),
      report: { steps: 0, failures: [{ code: 'environment-failed' }] },
    })
  })

  it('stops at Ctrl-C, and prints what it has measured', async () => {
    const loading = workshop.start(['load', world, '--sessions', '4', '--seconds', '600', '--json'])
    await loading.until(/steps\/s/)
    loading.interrupt()
    const { status, out } = await loading.ended
    expect(status).toBe(130)
    expect(JSON.parse(out)).toMatchObject({ interrupted: true, failures: [], steps: expect.any(Number) })
  })
})
