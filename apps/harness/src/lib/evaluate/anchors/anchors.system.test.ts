import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pageJson } from '@episodic/pages/file/page-content.fixture'
import { summarySchema } from '@episodic/report/fold/summary'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const play = (...more: string[]) => workshop.main(['run', world, '--tasks', '20', ...more])
const textOf = (...path: string[]) => readFileSync(join(workshop.folder, ...path), 'utf8')

describe('episodic report --anchors', () => {
  it('says how to measure floor and oracle, measures them on the tasks of the run, and all figures show them', async () => {
    await play('--policy', 'careless', '--out', 'runs/careless')
    expect((await workshop.main(['report', 'runs/careless'])).out).toContain(
      'Floor and oracle are not measured: episodic report runs/careless --anchors',
    )
    const { status, out } = await workshop.main(['report', 'runs/careless', '--anchors'])
    expect(status).toBe(0)
    expect(out).toMatch(/floor .*random, \d+ of 20 .*\n.*oracle .*100\.0 %.*20 of 20/)
    const { anchors } = summarySchema.parse(JSON.parse(textOf('runs/careless/summary.json'))).success
    expect(anchors).toMatchObject({ floor: { policy: 'random' }, oracle: { policy: 'solver', successes: 20, rate: 1 } })
    expect(textOf('runs/careless/report.html')).toMatch(/>oracle</)
    const gate = await workshop.main(['gate', 'runs/careless', '--success', '>=10%'])
    expect(gate.out).toMatch(/floor [\d.]+ % \(random, .*oracle 100\.0 %\s+\(solver/)
    await play('--policy', 'random', '--out', 'runs/random')
    const compared = await workshop.main(['compare', 'runs/careless', 'runs/random', '--json'])
    expect(JSON.parse(compared.out).anchors).toEqual(anchors)
    const bundled = await workshop.main(['bundle', 'runs/careless', 'runs/random', '--compare', '--out', 'both.html'])
    expect(bundled.status).toBe(0)
    expect(pageJson(textOf('both.html'))).toMatch(/Measured on these tasks: floor [\d.]+ % \(random, .*oracle 100\.0 %/)
  })

  it('takes what lies beside a run of the same tasks, and nothing else', async () => {
    await play('--policy', 'careless', '--out', 'runs/other', '--rollouts', '2', '--anchors')
    expect(JSON.parse(textOf('runs/other/anchors.json'))).toMatchObject({
      floor: { run: '../number-guessing-random-0' },
      oracle: { run: '../number-guessing-solver-0' },
    })
    await play('--policy', 'careless', '--seed', '7', '--out', 'runs/seven', '--anchors')
    expect(JSON.parse(textOf('runs/seven/anchors.json')).oracle.run).toBe('../number-guessing-solver-7')
    expect(existsSync(join(workshop.folder, 'runs/number-guessing-solver-0-2'))).toBe(false)
  })

  it('measures each world of a set once, and its players where they are there', async () => {
    const { out } = await play('--policy', 'careless', '--policy', 'solver', '--set', 'june', '--anchors')
    expect(out).toMatch(/number-guessing: Measured on these tasks: floor .* \(random, .*oracle 100\.0 % \(solver/)
    const [careless = ''] = globSync('runs/june/*/careless-*', { cwd: workshop.folder })
    expect(JSON.parse(textOf(careless, 'anchors.json')).oracle.run).toMatch(/^\.\.\/solver-/)
  })

  it('refuses a run with stages before it is played', async () => {
    const staged = await play('--stages', '5@0..1', '--out', 'runs/staged', '--anchors')
    expect([staged.status, staged.err]).toEqual([2, expect.stringContaining('has no floor and no oracle')])
    expect(existsSync(join(workshop.folder, 'runs/staged'))).toBe(false)
  })

  it('refuses another version of the world', async () => {
    const manifest = textOf('runs/careless/run.json').replaceAll('"1.1.0"', '"0.9.0"')
    writeFileSync(join(workshop.folder, 'runs/careless/run.json'), manifest)
    const { status, err } = await workshop.main(['report', 'runs/careless', '--anchors', '--json'])
    expect([status, err]).toEqual([1, expect.stringContaining('Floor and oracle are those of the version')])
  })
})
