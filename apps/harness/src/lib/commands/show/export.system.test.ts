import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeRecord } from '@episodic/protocol'
import { isSuccess } from '@episodic/report/fold/scored-outcome'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const fileOf = (name: string) => join(workshop.folder, name)
const linesOf = (name: string) => readFileSync(fileOf(name), 'utf8').trimEnd().split('\n')
let sealed: EpisodeRecord[] = []

beforeAll(async () => {
  const world = exampleWorld('number-guessing')
  const { status, err } = await workshop.main([
    'run',
    world,
    '--policy',
    'random',
    '--tasks',
    '20',
    '--rollouts',
    '2',
    '--out',
    'played',
  ])
  expect(err === '' || status === 0).toBe(true)
  sealed = linesOf('played/episodes.jsonl').map((line) => JSON.parse(line))
})

describe('episodic export', () => {
  it('writes a line for each finished episode with the tools of the world, and prints the counts', async () => {
    const { status, out } = await workshop.main([
      'export',
      'played',
      '--format',
      'trl-sft',
      '--out',
      'sft.jsonl',
      '--json',
    ])
    expect([status, JSON.parse(out)]).toEqual([0, { episodes: 40, finished: 40, failed: 0, lines: 40 }])
    const lines = linesOf('sft.jsonl').map((line) => JSON.parse(line))
    expect(lines.map(({ episode }) => episode)).toEqual(sealed.map(({ chain }) => chain))
    expect(lines[0].tools[0].function.name).toBe('guess')
  })

  it('counts from the version that a run was given to the one that is trained now', async () => {
    const play = (version: string, ...more: string[]) =>
      workshop.main([
        ...['run', exampleWorld('number-guessing'), '--policy', 'random', '--tasks', '2', '--out', 'versioned'],
        ...['--policy-version', version, ...more],
      ])
    expect((await play('step-12')).status).toBe(0)
    const { policy } = JSON.parse(linesOf('versioned/episodes.jsonl')[0] as string)
    expect(policy).toMatchObject({ name: 'random', version: 'step-12' })
    const { out } = await workshop.main(['export', 'versioned', '--format', 'trl', '--policy-version', 'step-15'])
    for (const line of out.trimEnd().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ policy_version: 'step-12', staleness_at_seal: 0, staleness: 3 })
    const exported = (version: string) =>
      workshop.main([
        ...['export', 'versioned', '--format', 'trl', '--policy-version'],
        version,
        '--out',
        'stale.jsonl',
      ])
    expect((await exported('step-11')).err).toContain('2 episodes of a newer version than step-11')
    expect((await exported('13')).err).toContain('2 episodes without staleness')
    expect((await exported('step-12')).err).not.toContain('staleness')
    const resumed = await play('step-13', '--resume')
    expect([resumed.status, resumed.err]).toEqual([
      1,
      expect.stringContaining('policy.version: was "step-12", now "step-13"'),
    ])
  })

  it('selects by split and by success, on standard output', async () => {
    const { out, err } = await workshop.main(['export', 'played', '--format', 'trl-sft', '--successful'])
    const successes = sealed.filter(isSuccess).length
    expect(out.split('\n').filter(Boolean)).toHaveLength(successes)
    expect(err).toContain(`${successes} finished episodes exported as trl-sft: ${successes} lines.`)
    const test = await workshop.main(['export', 'played', '--format', 'trl-sft', '--split', 'test'])
    const tested = sealed.filter(({ task }) => task.split === 'test').length
    expect(test.out.split('\n').filter(Boolean)).toHaveLength(tested)
  })

  it('selects by a query of figures, tasks and texts, and names the place of what it cannot read', async () => {
    const query = async (text: string) => {
      const { status, out, err } = await workshop.main(['export', 'played', '--format', 'trl', '--query', text])
      expect([status, err.startsWith('error')]).toEqual([0, false])
      return out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).episode as string)
        .toSorted()
    }
    const chains = (holds: (record: EpisodeRecord) => boolean) =>
      sealed
        .filter(holds)
        .map(({ chain }) => chain)
        .toSorted()
    expect(await query('success:no steps>=3')).toEqual(
      chains((record) => !isSuccess(record) && record.steps.length >= 3),
    )
    const [first] = sealed as [EpisodeRecord]
    expect(await query(`task:${first.task.id.slice(0, 12)} attempt:1`)).toEqual(
      chains(({ task, attempt }) => task.id === first.task.id && attempt === 1),
    )
    const text = `${first.task.prompt.slice(0, 60)}`
    expect(await query(`"${text}"`)).toEqual(chains((record) => JSON.stringify(record).includes(text)))
    const wrong = await workshop.main(['export', 'played', '--format', 'trl', '--query', 'success:no stpes>3'])
    expect([wrong.status, wrong.out]).toEqual([2, ''])
    expect(wrong.err).toMatch(/^error: The query cannot be used, from character 12 on: There is no field "stpes"/)
    expect(wrong.err).toContain('\n  success:no stpes>3\n             ^^^^^\n')
    const term = await workshop.main(['export', 'played', '--format', 'trl', '--query', 'term.solve>0'])
    expect(term.err).toContain('There is no reward term "solve" in this run; there are: ')
    const grader = await workshop.main(['export', 'played', '--format', 'trl', '--query', 'grade.kind:no'])
    expect(grader.err).toContain('The run has no verdicts of "kind"; there are: none.')
  })

  it('exports a file of lines without a run, and leaves out repeated and torn lines', async () => {
    const [first = ''] = linesOf('played/episodes.jsonl')
    writeFileSync(fileOf('lines.jsonl'), `${first}\n${first}\n`)
    appendFileSync(fileOf('lines.jsonl'), first.slice(0, 40))
    const { status, out, err } = await workshop.main([
      'export',
      'lines.jsonl',
      '--format',
      'trl-sft',
      '--world',
      exampleWorld('number-guessing'),
    ])
    expect([status, out.split('\n').filter(Boolean).length]).toEqual([0, 1])
    expect(err).toContain('Line 3 of episodes.jsonl is torn')
  })

  it('exports every run of a set that was played to a file of its own', async () => {
    const [first, second] = [exampleWorld('number-guessing'), exampleWorld('frozen-lake')]
    const players = ['--policy', 'solver', '--policy', 'random']
    await workshop.main(['run', first, second, ...players, '--tasks', '3', '--out', 'a-set'])
    const unplayed = readdirSync(fileOf('a-set/frozen-lake')).find((name) => name.startsWith('random')) as string
    rmSync(fileOf(`a-set/frozen-lake/${unplayed}`), { recursive: true })
    const exported = ['export', 'a-set', '--format', 'csv']
    const table = await workshop.main([...exported, '--out', 'tables', '--json'])
    expect([table.status, table.err]).toEqual([
      0,
      `a-set/frozen-lake/${unplayed} was not played yet, and is left out.\n`,
    ])
    const { runs } = JSON.parse(table.out)
    expect(runs).toHaveLength(3)
    for (const { run, file, episodes } of runs) {
      expect([file, episodes]).toEqual([`${run.replace('a-set', 'tables')}.csv`, 3])
      const alone = await workshop.main(['export', run, '--format', 'csv'])
      expect(readFileSync(fileOf(file), 'utf8')).toBe(alone.out)
    }
    // So does the folder of one of its worlds.
    const log = await workshop.main(['export', 'a-set/number-guessing', '--format', 'inspect', '--out', 'logs'])
    expect([log.status, readdirSync(fileOf('logs/number-guessing')).sort()]).toEqual([
      0,
      readdirSync(fileOf('a-set/number-guessing'))
        .map((name) => `${name}.eval`)
        .sort(),
    ])
    const nowhere = await workshop.main(exported)
    expect([nowhere.status, nowhere.err]).toEqual([2, expect.stringContaining('give the folder for them as --out')])
  })

  it('says what is wrong with its options', async () => {
    const json = await workshop.main(['export', 'played', '--format', 'atif', '--json'])
    expect([json.status, json.err]).toEqual([2, expect.stringContaining('give --out too')])
    const format = await workshop.main(['export', 'played', '--format', 'xml'])
    expect([format.status, format.err]).toEqual([2, expect.stringContaining('Allowed choices are trl-sft')])
    const log = await workshop.main(['export', 'played', '--format', 'inspect', '--out', 'log.json'])
    expect([log.status, log.err]).toEqual([2, expect.stringContaining('give --out <name>.eval')])
    const reward = await workshop.main(['export', 'played', '--format', 'csv', '--reward', 'total'])
    expect([reward.status, reward.err]).toEqual([2, expect.stringContaining('has no reward to choose')])
    const missing = await workshop.main(['export', 'nothing', '--format', 'atif'])
    expect([missing.status, missing.err]).toEqual([1, expect.stringContaining('There is no run at nothing.')])
    const inFile = await workshop.main(['export', 'played', '--format', 'atif', '--out', 'played/run.json/x.jsonl'])
    expect([inFile.status, inFile.err]).toEqual([1, expect.stringContaining('Cannot write played/run.json')])
  })
})
