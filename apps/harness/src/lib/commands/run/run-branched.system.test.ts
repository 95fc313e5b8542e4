import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EpisodeRecord, seedFor } from '@episodic/protocol'
import { summarySchema } from '@episodic/report'
import { mean } from 'simple-statistics'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  CLI,
  exampleWorld,
  nameOf,
  openWorkshop,
  readEpisodes,
  sealAgain,
  withoutTimes,
} from '../../fixtures/episodic.fixture.ts'

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

/** Returns the played steps without what identifies the run. */
function playOf({ steps, outcome, returns, seed, policy }: EpisodeRecord) {
  return { steps: steps.map(({ milliseconds: _, ...step }) => step), outcome, returns, seed, policy }
}

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

  it('exports what the steps of each leaf were worth beside its siblings, those that are not selected too', async () => {
    const leaves = readEpisodes(at('frozen-lake-in-process')) as EpisodeRecord[]
    const { status, err } = await workshop.main([
      ...['export', 'frozen-lake-in-process', '--format', 'trl', '--world', lake, '--split', 'test'],
      ...['--out', 'lake.jsonl'],
    ])
    expect([status, err]).toEqual([0, expect.any(String)])
    const lines = readFileSync(at('lake.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.length).toBeLessThan(leaves.length)
    const earned = ({ steps }: EpisodeRecord) => steps.slice(2).reduce((sum, { reward }) => sum + reward.total, 0)
    for (const { task, attempt, fork_advantages } of lines) {
      const { branch } = leaves.find((leaf) => leaf.task.id === task && leaf.attempt === attempt) as EpisodeRecord
      expect(fork_advantages).toHaveLength(branch?.path.length ?? 0)
      if (!branch || branch.path.length === 0) continue
      const tree = leaves.filter((leaf) => leaf.task.id === task && leaf.branch?.rollout === branch.rollout)
      const line = (i: number) => mean(tree.filter((leaf) => leaf.branch?.path[0] === i).map(earned))
      const others = [0, 1, 2].filter((i) => i !== branch.path[0]).map(line)
      expect(fork_advantages[0]).toMatchObject({ from: 2, siblings: 2, lines: branch.path.length })
      expect(fork_advantages[0].advantage).toBeCloseTo(line(branch.path[0] as number) - mean(others), 12)
    }
  })

  it('seals the seeds of forks into the chain, so that a changed seed is found', async () => {
    const leaves = readEpisodes(at('frozen-lake-in-process'))
    const forked = leaves.find(({ branch, steps }) => branch?.seeds[0] && steps.length > 20) as EpisodeRecord
    const branch = { ...(forked.branch as NonNullable<EpisodeRecord['branch']>), seeds: [null, null] }
    for (const [out, record] of [
      ['edited', { ...forked, branch }],
      ['remade', sealAgain({ ...forked, branch })],
    ] as const) {
      cpSync(at('frozen-lake-in-process'), at(out), { recursive: true })
      writeFileSync(at(out, 'episodes.jsonl'), `${JSON.stringify(record)}\n`)
      const { status, out: printed, err } = await workshop.main(['replay', out, '--world', lake])
      expect([status, printed + err]).toEqual([
        1,
        expect.stringContaining(out === 'edited' ? 'edited' : 'branch.seeds.0'),
      ])
      // Lines without their run have no plan, so the cause is a changed world.
      const alone = await workshop.main(['replay', `${out}/episodes.jsonl`, '--world', lake])
      expect(alone).toMatchObject({ status: 1, out: expect.stringContaining('step 3') })
    }
  })

  it('plays the episode of a run without branches as the first leaf of each rollout', async () => {
    const [, , ...plain] = TREE
    expect((await workshop.main(['run', lake, ...plain, '--out', 'plain'])).status).toBe(0)
    const leaves = new Map(readEpisodes(at('frozen-lake-in-process')).map((record) => [nameOf(record), playOf(record)]))
    for (const record of readEpisodes(at('plain')))
      expect(leaves.get(nameOf({ task: record.task, attempt: record.attempt * 6 }))).toEqual(playOf(record))
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

  it('estimates the known value of a state', async () => {
    // The best player crosses this lake in 100 moves with a probability of 0.7417, see the world's own tests of it.
    writeFileSync(
      at('slippery.mjs'),
      `import { defineTasks } from '${import.meta.resolve('@episodic/dataset')}'
       import { environment, solver } from '${lake}/src/index.ts'
       export { environment, solver }
       export const tasks = defineTasks({
         name: 'slippery', environment,
         generate: () => ({ prompt: 'Cross.', params: { map: '4x4', slippery: true }, difficulty: 0.5 }),
       })`,
    )
    const play = ['run', './slippery.mjs', '--tasks', '1', '--branch', '400@0', '--concurrency', '400', '--json']
    const { status, out } = await workshop.main([...play, '--out', 'value'])
    expect(status).toBe(0)
    const [tree] = summarySchema.parse(JSON.parse(out)).branch?.trees ?? []
    const { value } = tree?.points[0] ?? {}
    expect(value).toMatchObject({ count: 400, clusters: 400 })
    expect(Math.abs((value?.mean ?? 0) - 0.7417)).toBeLessThan(3 * (value?.standardError ?? 0))
    expect(value?.standardError).toBeCloseTo(Math.sqrt((0.7417 * 0.2583) / 400), 2)
  })

  it('replays a tree with missing leaves from its start, and seals only those leaves', async () => {
    const sealed = readFileSync(at('number-guessing-in-process', 'episodes.jsonl'), 'utf8').trimEnd().split('\n')
    const whole = withoutTimes(readEpisodes(at('number-guessing-in-process')))
    const kept = sealed.filter((_, i) => i % 4 !== 1)
    writeFileSync(at('number-guessing-in-process', 'episodes.jsonl'), `${kept.join('\n')}\n${sealed[1]?.slice(0, 99)}`)
    const again = await workshop.main(['run', guessing, ...TREE, '--out', 'number-guessing-in-process', '--resume'])
    expect([again.status, again.out]).toEqual([0, expect.stringContaining('72 scheduled   72 finished')])
    const resumed = readFileSync(at('number-guessing-in-process', 'episodes.jsonl'), 'utf8').trimEnd().split('\n')
    expect(resumed.slice(0, kept.length)).toEqual(kept)
    expect(resumed).toHaveLength(72)
    expect(withoutTimes(readEpisodes(at('number-guessing-in-process')))).toEqual(whole)
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

  it('seals a failing line as a failed leaf, and excludes its tree from the best of n', async () => {
    writeFileSync(
      at('clumsy.mjs'),
      `export const policy = {
        name: 'clumsy',
        start: () => () => ({ tool: 'guess', arguments: { value: 1 } }),
        resume({ seed }) {
          if (seed < '8') throw new Error('It cannot go on.')
          return policy.start()
        },
      }`,
    )
    const play = ['run', guessing, '--policy', './clumsy.mjs', '--branch', '3@2', '--tasks', '8', '--out', 'clumsy']
    expect((await workshop.main(play)).status).toBe(0)
    const { counts, branch } = summaryOf('clumsy')
    expect(counts.finished + counts.failed).toBe(24)
    expect(counts.failed).toBeGreaterThan(0)
    expect(branch).toMatchObject({ leaves: 3, rollouts: expect.any(Number) })
    expect((branch?.rollouts ?? 0) + (branch?.partial ?? 0)).toBe(8)
    expect(branch?.partial).toBeGreaterThan(0)
    expect((await workshop.main(['replay', 'clumsy', '--world', guessing])).status).toBe(0)
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

  it('rejects invalid branch points, before it plays anything', async () => {
    for (const points of ['3', '1@4', '2@4,2@4', '2@5,2@4', '2@-1', '1001@2', '']) {
      const { status, err } = await workshop.main(['run', guessing, '--branch', points])
      expect([status, err]).toEqual([2, expect.stringContaining('Write branch points as lines@step')])
    }
    const many = await workshop.main(['run', guessing, '--branch', '9@1,9@2', '--out', 'many'])
    expect([many.status, many.err]).toEqual([2, expect.stringContaining('Give --concurrency 81')])
    const other = await workshop.main([
      'run',
      lake,
      ...TREE,
      '--branch',
      '2@2',
      '--out',
      'frozen-lake-http',
      '--resume',
    ])
    expect([other.status, other.err]).toEqual([1, expect.stringContaining('branch: was')])
    const help = await workshop.main(['run', '--help'])
    expect(help.out).toMatch(/--branch <lines@step,…>[\s\S]*episodic run frozen-lake --branch 4@3 /)
  })
})
