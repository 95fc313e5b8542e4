import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EpisodeRecord, seedFor } from '@episodic/protocol'
import { summarySchema } from '@episodic/report/fold/summary'
import { mean } from 'simple-statistics'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI, exampleWorld, nameOf, openWorkshop, readEpisodes, withoutTimes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const guessing = exampleWorld('number-guessing')
const lake = exampleWorld('frozen-lake')
const WORLDS = { 'number-guessing': guessing, 'frozen-lake': lake }
const at = (...path: string[]) => join(workshop.folder, ...path)
const summaryOf = (out: string) => summarySchema.parse(JSON.parse(readFileSync(at(out, 'summary.json'), 'utf8')))
const TREE = ['--branch', '3@2,2@5', '--policy', 'random', '--tasks', '6', '--rollouts', '2']

beforeAll(async () => {
  for (const [name, world] of Object.entries(WORLDS))
    for (const transport of ['in-process', 'http'])
      expect(
        (await workshop.main(['run', world, ...TREE, '--transport', transport, '--out', `${name}-${transport}`]))
          .status,
      ).toBe(0)
})

describe('episodic run --branch', () => {
  it.each(Object.entries(WORLDS))(
    'seals the same trees of %s through every transport, and they can be replayed',
    async (name, world) => {
      const episodes = readEpisodes(at(`${name}-in-process`))
      expect(withoutTimes(readEpisodes(at(`${name}-http`)))).toEqual(withoutTimes(episodes))
      expect(episodes).toHaveLength(6 * 2 * 6)
      expect(new Set(episodes.map(nameOf)).size).toBe(episodes.length)
      for (const { task, attempt, branch, steps, policy } of episodes) {
        expect(branch).toMatchObject({ rollout: Math.floor(attempt / 6), leaves: 6 })
        const [first = 0, second = 0] = branch?.path ?? []
        const before = (branch?.rollout ?? 0) * 6 + first * 2 + second
        expect(attempt).toBeGreaterThanOrEqual(before)
        expect(attempt).toBeLessThan(before + (branch?.copies ?? 0))
        expect(branch?.copies).toBe([6, 2, 1][branch?.path.length ?? 0])
        expect(branch?.at).toEqual([2, 5].slice(0, branch?.path.length))
        expect(steps.length).toBeGreaterThanOrEqual(branch?.at.at(-1) ?? 0)
        const trunk = seedFor('0', 'policy', task.id, branch?.rollout ?? 0)
        const own = branch?.path.slice(0, branch.path.findLastIndex((line) => line > 0) + 1) ?? []
        expect(policy.seed).toBe(own.length > 0 ? seedFor(trunk, 'line', ...own) : trunk)
      }
      const replayed = await workshop.main(['replay', `${name}-http`, '--world', world])
      expect([replayed.status, replayed.out]).toEqual([0, expect.stringContaining('72 reproduced')])
    },
  )

  it('exports in which fork each step of a leaf was, and what it was worth beside those that are not selected', async () => {
    const leaves = readEpisodes(at('frozen-lake-in-process')) as EpisodeRecord[]
    const { status, err } = await workshop.main([
      ...['export', 'frozen-lake-in-process', '--format', 'trl', '--world', lake, '--split', 'test'],
      ...['--advantages', 'state', '--out', 'lake.jsonl'],
    ])
    expect([status, err]).toEqual([0, expect.any(String)])
    const lines = readFileSync(at('lake.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.length).toBeLessThan(leaves.length)
    for (const { task, attempt, state_advantages: worth } of lines) {
      const leaf = leaves.find((each) => each.task.id === task && each.attempt === attempt) as EpisodeRecord
      const { at: forks = [], path = [] } = leaf.branch ?? {}
      const branches = leaf.steps.map((_, step) => path.slice(0, forks.filter((fork) => fork <= step).length))
      expect(worth.map(({ branch }: { branch: number[] }) => branch)).toEqual(branches)
      if (path.length === 0) continue
      const { node, value, visits } = worth[2]
      const earned = leaves.flatMap(({ task: own, steps }) => {
        const met = own.id === task ? steps.findIndex(({ stateHash }) => stateHash === node) + 1 : 0
        return met > 0 && met < steps.length
          ? [steps.slice(met).reduce((sum, { reward }) => sum + reward.total, 0)]
          : []
      })
      expect(visits).toBeGreaterThanOrEqual(3)
      expect(value).toBeCloseTo(mean(earned), 12)
    }
  })

  it('accounts for every leaf, and reports the best of n and the value of states', async () => {
    const { branch, counts, success } = summaryOf('frozen-lake-in-process')
    expect(counts).toMatchObject({ scheduled: 72, finished: 72, failed: 0, unresolved: 0, tasks: 6 })
    expect(success.passAtK.map(({ k }) => k)).toEqual([1])
    expect(branch).toMatchObject({ leaves: 6, rollouts: 12, partial: 0, best: { return: { count: 12, clusters: 6 } } })
    expect(branch?.mean.return?.count).toBe(72)
    expect(branch?.trees).toHaveLength(6)
    const page = readFileSync(at('frozen-lake-in-process', 'report.html'), 'utf8')
    expect(page).toContain('Best of 6')
    const { out } = await workshop.main(['report', 'frozen-lake-in-process'])
    expect(out).toMatch(/best of 6 +\S+/)
    expect(out).toContain('value of a state')
  })

  it('continues after it was killed', async () => {
    const play = ['run', lake, '--branch', '4@3', '--tasks', '100', '--concurrency', '8', '--out']
    expect((await workshop.main([...play, 'undisturbed'])).status).toBe(0)
    const killed = workshop.start([...play, 'killed'])
    await killed.until(/\d+ %/)
    killed.kill('SIGKILL')
    await killed.ended
    expect((await workshop.main([...play, 'killed', '--resume'])).status).toBe(0)
    expect(withoutTimes(readEpisodes(at('killed')))).toEqual(withoutTimes(readEpisodes(at('undisturbed'))))
    expect(summaryOf('killed').branch).toEqual(summaryOf('undisturbed').branch)
  })

  it('rejects a world that cannot be forked, before it plays anything', async () => {
    // `episodic serve`, with one word of its output changed.
    const serve = [process.execPath, CLI, 'serve', guessing, '--stdio', '--trainer']
      .map((word) => `'${word}'`)
      .join(' ')
    const args = ['-c', `${serve} | sed -u 's/"forkable":true/"forkable":false/'`]
    writeFileSync(at('servers.json'), JSON.stringify({ mcpServers: { fixed: { command: 'sh', args } } }))
    const play = ['run', guessing, ...TREE, '--config', 'servers.json', '--server', 'fixed', '--out', 'fixed']
    const { status, err } = await workshop.main(play)
    expect([status, err]).toEqual([1, expect.stringMatching(/^error: number-guessing cannot be forked: /)])
    expect(existsSync(at('fixed'))).toBe(false)
  })
})
