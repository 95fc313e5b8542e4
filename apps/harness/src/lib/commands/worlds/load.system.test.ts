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

  it('ends on time if a step is never answered', async () => {
    const silent = COIN_WORLD.replace(
      'play({ state, input, end, reveal, say }) {',
      'prepared: z.null(), prepareSeconds: 3600, prepare: () => new Promise(() => {}), $&',
    )
    writeFileSync(join(workshop.folder, 'silent.ts'), silent)
    const { status, report, err } = await load('./silent.ts', '--sessions', '2', '--seconds', '1')
    expect(report).toMatchObject({ steps: 0, failures: [], interrupted: false })
    expect([status, err]).toEqual([1, expect.stringContaining('No step was answered.')])
  }, 90_000) // A call waits for 120 s.
})
