import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeRecord } from '@episodic/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const run = (out: string, ...more: string[]) =>
  workshop.main(['run', world, '--policy', 'solver', '--tasks', '20', '--out', out, ...more])
const linesOf = (out: string) =>
  (readEpisodes(join(workshop.folder, out)) as EpisodeRecord[]).sort((a, b) => (a.task.id < b.task.id ? -1 : 1))

describe('episodic run --tool-faults', () => {
  it('says in each line what failed, and is replayed, exported, continued and compared', async () => {
    const faulty = ['--tool-faults', 'error=0.2,stale=0.2']
    for (const [out, more] of [
      ['plain', []],
      ['fails', faulty],
      ['again', ['--processes', '2', ...faulty]],
    ] as const)
      expect((await run(out, ...more)).status).toBe(0)
    const [plain, fails, again] = [linesOf('plain'), linesOf('fails'), linesOf('again')]
    expect(plain.some((line) => 'faults' in line)).toBe(false)
    expect(fails.flatMap(({ faults = [] }) => faults).length).toBeGreaterThan(20)
    // Where it is played decides nothing of it, and a line without faults has the chain that it has without the option.
    expect(again.map(({ chain, faults }) => [chain, faults])).toEqual(fails.map(({ chain, faults }) => [chain, faults]))
    for (const [i, { faults, chain }] of fails.entries()) if (!faults) expect(chain).toBe(plain[i]?.chain)
    expect((await workshop.main(['replay', 'fails'])).out).toContain('20 reproduced')
    await workshop.main(['export', 'fails', '--format', 'csv', '--out', 'fails.csv'])
    expect(readFileSync(join(workshop.folder, 'fails.csv'), 'utf8')).toContain(',tool_faults,')
    expect((await workshop.main(['compare', 'plain', 'fails'])).out).toContain('toolFaults.error also differs')
    const { task } = fails.find(({ faults, steps }) => faults && steps.length > 2) as EpisodeRecord
    const continued = ['continue', 'fails', '--task', task.id, '--step', '2', '--rollouts', '2', '--out', 'continued']
    expect((await workshop.main(continued)).status).toBe(0)
    expect((await workshop.main(['replay', 'continued'])).status).toBe(0)
  })

  it('is an axis of sets', async () => {
    const players = [
      { name: 'solver', policy: 'solver' },
      { name: 'unlucky', policy: 'solver', toolFaults: { error: 0.3 } },
    ]
    writeFileSync(join(workshop.folder, 'players.json'), JSON.stringify(players))
    const set = ['run', world, '--policies', 'players.json', '--tasks', '5', '--out', 'set']
    expect((await workshop.main(set)).status).toBe(0)
    expect((await workshop.main(['compare', 'set'])).out).toContain(
      'toolFaults.error also differs: not given in A, 0.3 in B',
    )
  })

  it.each([
    ['error=0.95', [], 'Give 0.9 in all at most.'],
    ['lost=0.1', [], '--tool-faults'],
    ['error=0.1', ['--branch', '2@1'], '--tool-faults cannot be played with --branch'],
    ['error=0.1', ['--policy', 'process:true'], '--tool-faults is for policies and llm:<model>'],
  ])('refuses %s %j', async (faults, more, message) => {
    const { status, err } = await run('refused', '--tool-faults', faults, ...more)
    expect([status, err]).toEqual([2, expect.stringContaining(message)])
  })
})
