import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const set = ['--policy', 'careless', '--policy', 'random', '--policy', 'solver', '--set', 'june']
beforeAll(() => workshop.main(['run', world, '--tasks', '20', '--rollouts', '6', ...set]))

const jsonOf = async (...args: string[]) => JSON.parse((await workshop.main([...args, '--json'])).out)
const quarantine = async (...more: string[]) =>
  (await workshop.main(['dataset', 'quarantine', 'runs/june', ...more])).out

describe('episodic dataset quarantine', () => {
  it('shows how often each task flips over all runs, and writes nothing by itself', async () => {
    const { seen, tasks, environment, runs } = await jsonOf('dataset', 'quarantine', 'runs/june', '--flips', '0.05')
    expect([environment.name, runs.length, seen.length]).toEqual(['number-guessing', 3, 20])
    for (const { finished, flips, failed } of seen) {
      expect([finished, failed]).toEqual([18, 0])
      expect(flips.low).toBeLessThanOrEqual(flips.rate)
      expect(flips.high).toBeGreaterThanOrEqual(flips.rate)
    }
    // The solver solves every task, so none is never solved.
    expect(new Set(tasks.map(({ reason }: { reason: string }) => reason))).not.toContain('never')
    expect(await quarantine()).toMatch(/20 tasks in 3 runs.*Nothing is left out/)
  })

  it('writes tasks with their reasons, and compare, gate and report leave them out and say so', async () => {
    expect(await quarantine('--flips', '0.1', '--out', 'odd.json')).toContain('In odd.json')
    const file = JSON.parse(readFileSync(join(workshop.folder, 'odd.json'), 'utf8'))
    const ids = file.tasks.map(({ task }: { task: string }) => task)
    expect(ids.length).toBeGreaterThan(0)
    const note = new RegExp(`${ids.length} tasks? of odd\\.json left out: .*\\d flips`)
    const compared = await workshop.main(['compare', 'runs/june', '--without', 'odd.json'])
    expect(compared.out).toMatch(note)
    expect((await jsonOf('compare', 'runs/june', '--without', 'odd.json')).leftOut).toEqual({
      file: 'odd.json',
      tasks: ids,
    })
    const gate = ['gate', 'runs/june', '--player', 'careless', '--success', '>=1%', '--without', 'odd.json']
    expect(await jsonOf(...gate)).toMatchObject({ runs: [{ counts: { finished: 6 * (20 - ids.length) } }] })
    const [run] = (await jsonOf('gate', 'runs/june', '--player', 'careless', '--failed', '<=5%')).runs
    const report = ['report', run.run, '--without', 'odd.json']
    expect(await jsonOf(...report)).toMatchObject({ counts: { tasks: 20 - ids.length }, leftOut: { tasks: ids } })
    expect((await workshop.main(report)).out).toMatch(note)
    expect(JSON.parse(readFileSync(join(workshop.folder, run.run, 'summary.json'), 'utf8')).counts.tasks).toBe(20)
  })

  it('refuses tasks of another version, and runs of several environments', async () => {
    const file = readFileSync(join(workshop.folder, 'odd.json'), 'utf8').replace('1.1.0', '1.0.0')
    writeFileSync(join(workshop.folder, 'old.json'), file)
    const compared = await workshop.main(['compare', 'runs/june', '--without', 'old.json'])
    expect([compared.status, compared.err]).toEqual([
      1,
      expect.stringContaining('old.json is of number-guessing 1.0.0'),
    ])
    await workshop.main(['run', exampleWorld('frozen-lake'), '--tasks', '2', '--out', 'runs/lake'])
    const both = await workshop.main(['dataset', 'quarantine', 'runs/june', 'runs/lake', '--out', 'both.json'])
    expect([both.status, existsSync(join(workshop.folder, 'both.json'))]).toEqual([2, false])
  })

  it('leaves a run of another world whole, and refuses a gate of nothing else', async () => {
    const worlds = [exampleWorld('frozen-lake'), '--tasks', '20', '--set', 'two']
    const played = await workshop.main(['run', world, ...worlds, '--policy', 'random'])
    expect(played.err).not.toContain('error')
    const { runs } = await jsonOf('gate', 'runs/two', '--success', '>=0%', '--without', 'odd.json')
    const { tasks } = JSON.parse(readFileSync(join(workshop.folder, 'odd.json'), 'utf8'))
    const finished = runs.map(({ world, counts }: { world: string; counts: { finished: number } }) => [
      world,
      counts.finished,
    ])
    expect(Object.fromEntries(finished)).toEqual({ 'number-guessing': 20 - tasks.length, 'frozen-lake': 20 })
    const alone = await workshop.main(['gate', 'runs/lake', '--success', '>=0%', '--without', 'odd.json'])
    expect([alone.status, alone.err]).toEqual([
      1,
      expect.stringContaining('odd.json is of number-guessing, and no run is'),
    ])
  })
})
