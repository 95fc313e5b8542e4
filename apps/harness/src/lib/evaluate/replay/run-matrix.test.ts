import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import type { EpisodeRecord } from '@episodic/protocol'
import { readRecorded } from '@episodic/run/folder/read-recorded'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld } from '../../fixtures/episodic.fixture.ts'
import { recordEpisodes } from './record-episodes.ts'
import { replayRecording } from './run-matrix.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
const recorded = join(folder, 'recorded.jsonl')
const reference = exampleWorld('number-guessing')
let world: World
let first: ReadonlyMap<string, string>
let records: EpisodeRecord[]

beforeAll(async () => {
  world = await loadWorld(reference)
  await recordEpisodes({ reference, world }, { store: 'memory', transport: 'in-process', concurrency: 1 }, 12, recorded)
  first = (await replayRecording(world, recorded)).chains
  records = []
  for await (const { record } of readRecorded(recorded)) records.push(record as EpisodeRecord)
})
afterAll(() => rmSync(folder, { recursive: true }))

async function compare(lines: readonly EpisodeRecord[]) {
  const path = join(folder, 'other.jsonl')
  writeFileSync(path, lines.map((record) => `${JSON.stringify(record)}\n`).join(''))
  return deviation(path)
}

async function deviation(path: string) {
  const { chains, differing, steps, field } = await replayRecording(world, path, first)
  return { episodes: chains.size, differing: differing.size, steps, field }
}

describe('replayRecording', () => {
  it('accepts the same episodes of another setting, in any order', async () => {
    const path = join(folder, 'sqlite.jsonl')
    const store = `sqlite:${join(folder, 'sessions.db')}`
    await recordEpisodes({ reference, world }, { store, transport: 'in-process', concurrency: 8 }, 12, path)
    const steps = records.reduce((sum, record) => sum + record.steps.length, 0)
    const same = { episodes: 12, differing: 0, steps, field: null }
    expect(await deviation(path)).toEqual(same)
    expect(await compare(records.toReversed())).toEqual(same)
  })

  it('counts missing and unexpected episodes', async () => {
    expect(await compare(records.slice(1))).toMatchObject({ episodes: 11, differing: 1, field: 'chain' })
    const [first] = records as [EpisodeRecord]
    const stranger = { ...first, task: { ...first.task, id: 'stranger' } }
    expect(await compare([...records, stranger])).toMatchObject({ episodes: 13, differing: 1 })
  })

  it('counts a repeated line as one episode', async () => {
    expect(await compare([...records, ...records])).toMatchObject({ episodes: 12, differing: 0 })
  })
})
