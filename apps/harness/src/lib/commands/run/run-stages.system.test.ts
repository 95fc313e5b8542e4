import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeRecord } from '@episodic/protocol'
import { summarySchema } from '@episodic/report/fold/summary'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, sealAgain } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)
const write = (file: string, lines: readonly EpisodeRecord[]) =>
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
// A copy or an edited run is not known to be this user's, so the world is named.
const replay = (name: string) => workshop.main(['replay', name, '--world', world])

const DRAWS = 30
const CONFIGURATION = ['run', world, '--tasks', '10', '--rollouts', '2', '--stages', '20@0..0.5,10@0.5..1']
const play = (out: string, ...options: string[]) => workshop.main([...CONFIGURATION, '--out', out, ...options])

beforeAll(async () => {
  expect((await play('alone', '--concurrency', '1')).status).toBe(0)
})

describe('episodic run --stages', () => {
  it('writes with each episode where it was drawn, and the course of the stages in the summary', async () => {
    const episodes = readEpisodes(at('alone'))
    const draws = new Map(episodes.map((line) => [line.curriculum?.draw ?? -1, line.curriculum?.stage]))
    const sorted = [...draws].sort(([a], [b]) => a - b)
    expect(sorted).toEqual(Array.from({ length: DRAWS }, (_, i) => [i, i < 20 ? '1: 0 to 0.5' : '2: 0.5 to 1']))
    const names = episodes.map(({ task, attempt }) => `${task.id} ${attempt}`)
    expect(new Set(names).size).toBe(2 * DRAWS)
    const { curriculum, counts } = summarySchema.parse(JSON.parse(readFileSync(at('alone', 'summary.json'), 'utf8')))
    expect(counts.scheduled).toBe(2 * DRAWS)
    expect(curriculum?.reduce((sum, { count }) => sum + count, 0)).toBe(2 * DRAWS)
    expect((await workshop.main(['replay', 'alone'])).status).toBe(0)
  })

  it('is planned again by replay, which finds a line that says another draw', async () => {
    cpSync(at('alone'), at('moved'), { recursive: true })
    const moved = readEpisodes(at('moved')).map((line) =>
      line.curriculum?.draw === 3 ? sealAgain({ ...line, curriculum: { ...line.curriculum, draw: 9 } }) : line,
    )
    write(at('moved', 'episodes.jsonl'), moved)
    const { status, out } = await replay('moved')
    expect(status).toBe(1)
    expect(out).toMatch(/curriculum/)
  })

  it.each([
    [['--stages', '5@0.99..1', '--tasks', '1'], /Stage "1: 0.99 to 1" has no tasks/],
    [['--stages', '0@0..1'], /A stage draws at least 1 task/],
  ])('refuses %j', async (options, message) => {
    const { status, err } = await workshop.main(['run', world, ...options, '--out', 'refused'])
    expect([status, err]).toEqual([2, expect.stringMatching(message)])
  })
})

it('reads a run that was recorded with an adaptive plan, and replays its lines without the plan', async () => {
  cpSync(at('alone'), at('adaptive'), { recursive: true })
  const file = at('adaptive', 'run.json')
  const { configuration, ...manifest } = JSON.parse(readFileSync(file, 'utf8'))
  const curriculum = { kind: 'adaptive', draws: DRAWS, target: 0.5, focus: null, explore: 0.1, lag: 64 }
  writeFileSync(file, JSON.stringify({ ...manifest, configuration: { ...configuration, curriculum } }))
  rmSync(at('adaptive', 'summary.json'))
  expect(await workshop.main(['show', 'adaptive'])).toMatchObject({ status: 0 })
  const replayed = await replay('adaptive')
  expect(replayed.status).toBe(0)
  expect(replayed.out).toContain('recorded with an adaptive plan, which was removed; its lines can still be read.')
})
