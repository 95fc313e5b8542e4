import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { policySeedOf } from '@episodic/play/play/plan/plan'
import type { EpisodeRecord } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, sealAgain, type Workshop } from '../../fixtures/episodic.fixture.ts'

const WORLD = exampleWorld('number-guessing')

let workshop: Workshop
/** 30 tasks, each played twice, some of them won and some lost. */
let played: EpisodeRecord[]

const at = (path: string): string => join(workshop.folder, path)

beforeAll(async () => {
  workshop = openWorkshop()
  await run('genuine', '--policy', 'careless', '--tasks', '30', '--rollouts', '2')
  played = readEpisodes(at('genuine'))
  expect(new Set(played.map(won)).size).toBe(2)
})
afterAll(() => workshop[Symbol.dispose]())

async function run(out: string, ...options: string[]): Promise<void> {
  expect(await workshop.main(['run', WORLD, ...options, '--out', out])).toMatchObject({ status: 0 })
}

const won = ({ returns }: EpisodeRecord): boolean => (returns?.unshaped ?? 0) > 0

async function replay(folder: string, ...options: string[]) {
  const { status, out, err } = await workshop.main(['replay', folder, '--world', WORLD, ...options, '--json'])
  return { status, err, summary: out === '' ? null : JSON.parse(out) }
}

/** Replays the genuine run with other lines. */
function replayed(lines: readonly EpisodeRecord[]) {
  tamper('tampered', lines)
  return replay('tampered')
}

function tamper(folder: string, lines: readonly EpisodeRecord[]): void {
  rmSync(at(folder), { recursive: true, force: true })
  cpSync(at('genuine'), at(folder), { recursive: true })
  writeFileSync(at(`${folder}/episodes.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** Returns the genuine lines with the first one changed. */
const withFirst = (change: (record: EpisodeRecord) => EpisodeRecord): EpisodeRecord[] =>
  played.map((record, i) => (i === 0 ? sealAgain(change(record)) : record))

describe('episodic replay of a run that was tampered with', () => {
  it('finds one winning episode copied under sixty names', async () => {
    const win = played.find(won) as EpisodeRecord
    const { status, summary, err } = await replayed(
      played.map(({ task, attempt }) => sealAgain({ ...win, task, attempt })),
    )
    expect({ status, summary }).toMatchObject({
      status: 1,
      summary: { episodes: 60, replayed: 1, diverged: 59, missing: 0 },
    })
    expect(summary.divergences).toHaveLength(10)
    for (const divergence of summary.divergences) expect(divergence.cause).toBe('plan-differs')
    expect(err).toContain('59 of 60 episodes')
  })

  it('finds two lines with swapped tasks', async () => {
    const [one, other] = [played[0], played.find(({ task }) => task.id !== played[0]?.task.id)] as EpisodeRecord[]
    const swapped = played.map((record) =>
      record === one ? { ...record, task: other?.task } : record === other ? { ...record, task: one?.task } : record,
    ) as EpisodeRecord[]
    const { status, summary } = await replayed(swapped.map(sealAgain))
    expect({ status, diverged: summary.diverged }).toEqual({ status: 1, diverged: expect.any(Number) })
    expect(summary.diverged).toBeGreaterThanOrEqual(2)
    expect(summary.divergences[0]).toMatchObject({ cause: 'plan-differs', task: other?.task.id })
  })

  it.each([
    ['attempt', (record: EpisodeRecord) => ({ ...record, attempt: 7 }), { unplanned: 1, missing: 1 }],
    [
      'task.id',
      (record: EpisodeRecord) => ({ ...record, task: { ...record.task, id: 'f'.repeat(32) } }),
      { unplanned: 1, missing: 1 },
    ],
    ['task.difficulty', (record: EpisodeRecord) => ({ ...record, task: { ...record.task, difficulty: 1 } }), {}],
    ['task.tags.0', (record: EpisodeRecord) => ({ ...record, task: { ...record.task, tags: ['easy'] } }), {}],
    [
      'task.split',
      (record: EpisodeRecord) => ({
        ...record,
        task: { ...record.task, split: record.task.split === 'test' ? 'train' : 'test' },
      }),
      {},
    ],
    ['task.prompt', (record: EpisodeRecord) => ({ ...record, task: { ...record.task, prompt: 'Win.' } }), {}],
    ['policy.name', (record: EpisodeRecord) => ({ ...record, policy: { ...record.policy, name: 'mine' } }), {}],
    ['policy.seed', (record: EpisodeRecord) => ({ ...record, policy: { ...record.policy, seed: 'mine' } }), {}],
    ['run', (record: EpisodeRecord) => ({ ...record, run: 'another' }), {}],
  ] as const)('finds a changed %s in an otherwise unchanged line', async (field, change, counts) => {
    const { status, summary } = await replayed(withFirst(change as (record: EpisodeRecord) => EpisodeRecord))
    expect({ status, summary }).toMatchObject({
      status: 1,
      summary: { diverged: 1, replayed: 59, missing: 0, ...counts },
    })
    expect(summary.divergences).toMatchObject([{ step: null, field, cause: 'plan-differs' }])
  })

  it('finds a second, different line of an episode, and accepts an identical one', async () => {
    const lost = played.find((record) => !won(record)) as EpisodeRecord
    const forged = sealAgain({ ...lost, time: { started: 0, ended: 1 } })
    const { status, summary, err } = await replayed([...played, forged])
    expect({ status, summary }).toMatchObject({
      status: 1,
      summary: { episodes: 61, replayed: 60, conflicting: 1, repeated: 0, diverged: 1, missing: 0 },
    })
    expect(summary.divergences).toMatchObject([
      { task: lost.task.id, cause: 'conflict', recorded: '"line 61"', replayed: `"line ${played.indexOf(lost) + 1}"` },
    ])
    expect(err).toContain('1 lines conflict with another line of the same episode.')
    const again = await replayed([...played, lost])
    expect(again).toMatchObject({ status: 0, summary: { episodes: 61, replayed: 61, conflicting: 0, repeated: 1 } })
  })

  it('finds a try without a line of the try before, and accepts tries in any order', async () => {
    const { configuration } = JSON.parse(readFileSync(at('genuine/run.json'), 'utf8'))
    const tryOf = (record: EpisodeRecord, number: number, change: Partial<EpisodeRecord> = {}) => {
      const seed = policySeedOf(configuration.seed, { ...record, try: number })
      return sealAgain({ ...record, try: number, policy: { ...record.policy, seed }, ...change })
    }
    const [first, ...others] = played as [EpisodeRecord, ...EpisodeRecord[]]
    const failed = (number: number) =>
      tryOf(first, number, {
        outcome: { kind: 'failed', error: { code: 'connection-failed', message: 'The server is gone.' } },
        steps: first.steps.slice(0, -1),
        returns: null,
      })
    for (const lines of [[tryOf(first, 7)], [failed(0), tryOf(first, 2)], [failed(1), tryOf(first, 2)]]) {
      const { status, summary } = await replayed([...lines, ...others])
      expect({ status, summary }).toMatchObject({ status: 1, summary: { diverged: 1, unplanned: 0, missing: 0 } })
      expect(summary.divergences).toMatchObject([{ task: first.task.id, field: 'try', cause: 'try-missing' }])
    }
    for (const lines of [
      [failed(0), failed(1), tryOf(first, 2)],
      [tryOf(first, 2), failed(1), failed(0)],
    ])
      expect(await replayed([...lines, ...others])).toMatchObject({ status: 0, summary: { replayed: 62, diverged: 0 } })
    expect(await replay('tampered', '--task', first.task.id, '--attempt', '0')).toMatchObject({ status: 0 })
  })
})

describe('episodic replay of a genuine run', () => {
  it('finds nothing, for any plan', async () => {
    expect(await replay('genuine')).toMatchObject({ status: 0, err: '', summary: { replayed: 60, notChecked: [] } })
    await run('trees', '--policy', 'random', '--tasks', '6', '--rollouts', '2', '--branch', '3@1,2@3')
    expect(await replay('trees')).toMatchObject({ status: 0, summary: { replayed: 72, missing: 0 } })
    const moved = readEpisodes(at('trees')).map((record) =>
      record.branch && record.branch.path[0] === 1
        ? { ...record, branch: { ...record.branch, path: [2, ...record.branch.path.slice(1)] } }
        : record,
    )
    writeFileSync(at('trees/episodes.jsonl'), moved.map((line) => `${JSON.stringify(sealAgain(line))}\n`).join(''))
    expect((await replay('trees')).summary.divergences[0]).toMatchObject({ field: 'branch', cause: 'plan-differs' })
  })
})
