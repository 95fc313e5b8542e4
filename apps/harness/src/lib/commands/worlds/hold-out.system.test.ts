import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const main = (...args: string[]) => workshop.main(args)
const textOf = (name: string) => readFileSync(join(workshop.folder, name), 'utf8')
const CANARY = 'canary:guess-2026-canary'

beforeAll(async () => {
  await main('dataset', 'generate', world, '--count', '60', '--out', 'plain.jsonl')
  const { status, out } = await main(
    'dataset',
    'hold-out',
    'plain.jsonl',
    '--canary',
    'guess-2026-canary',
    '--out',
    'held.jsonl',
  )
  expect([status, out]).toEqual([
    0,
    expect.stringMatching(/60 tasks, \d+ of test held out {2}canary:guess-2026-canary/),
  ])
  await main('run', world, '--dataset', 'held.jsonl', '--out', 'run')
})

describe('a held-out split', () => {
  it('keeps the ids of tasks, and is in every line of its tasks', async () => {
    const ids = (name: string) =>
      textOf(name)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id)
    expect(ids('held.jsonl')).toEqual(ids('plain.jsonl'))
    const lines = textOf('run/episodes.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).task)
    for (const { split, tags } of lines)
      expect([tags.includes('held-out'), tags.includes(CANARY)]).toEqual([split === 'test', true])
    const { out } = await main('dataset', 'hold-out', 'plain.jsonl', '--out', 'own.jsonl')
    const again = await main('dataset', 'hold-out', 'plain.jsonl', '--out', 'own.jsonl')
    expect(out).toMatch(/canary:[\da-f]{32} /)
    expect(again.out).toBe(out)
    await main('dataset', 'hold-out', 'held.jsonl', '--split', 'validation', '--out', 'both.jsonl')
    for (const { split, tags } of textOf('both.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)))
      expect([tags.includes('held-out'), tags.includes(CANARY)]).toEqual([split !== 'train', true])
  })

  it('is exported only with --held-out, which says so', async () => {
    const refused = await main('export', 'run', '--format', 'trl', '--out', 'all.jsonl')
    expect([refused.status, refused.err, existsSync(join(workshop.folder, 'all.jsonl'))]).toEqual([
      2,
      expect.stringMatching(/held out from training \(canary:guess-2026-canary\).*--held-out/s),
      false,
    ])
    const train = await main('export', 'run', '--format', 'trl', '--split', 'train', '--out', 'train.jsonl')
    expect([train.status, train.err]).toEqual([0, expect.stringContaining(CANARY)])
    const all = await main('export', 'run', '--format', 'trl', '--held-out', '--out', 'all.jsonl', '--json')
    expect(JSON.parse(all.out)).toMatchObject({ episodes: 60, heldOut: expect.any(Number), canaries: [CANARY] })
    const rows = ['dataset', 'export', 'held.jsonl', '--format', 'nemo-gym', '--world', world, '--out', 'rows.jsonl']
    expect((await main(...rows)).err).toMatch(/held out from training/)
    expect((await main(...rows, '--held-out')).status).toBe(0)
    const harbor = ['export', world, '--format', 'harbor', '--tasks', 'held.jsonl', '--out']
    expect((await main(...harbor, 'no')).err).toMatch(/is held out from training/)
    expect(existsSync(join(workshop.folder, 'no'))).toBe(false)
    expect((await main(...harbor, 'yes', '--held-out')).status).toBe(0)
    expect((await main('dataset', 'hold-out', 'train.jsonl', '--out', 'none.jsonl')).status).not.toBe(0)
    expect(existsSync(join(workshop.folder, 'none.jsonl'))).toBe(false)
  })

  it('is named by a bundle before it is written', async () => {
    const { err } = await main('bundle', 'run', '--out', 'run.html')
    expect(err).toMatch(/held out +\d+ episodes of tasks that are held out from training \(canary:guess-2026-canary\)/)
    const { out } = await main('bundle', 'run', '--out', 'run.html', '--json')
    expect(JSON.parse(out)).toMatchObject({ heldOut: expect.any(Number), canaries: [CANARY] })
  })
})
