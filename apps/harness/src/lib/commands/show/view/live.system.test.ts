import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeColumns } from '@episodic/report/rows/columns-codec'
import type { EpisodeInFlight, FollowedEpisode, RunDetail } from '@episodic/report/view/run-entry'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { exampleWorld, openWorkshop, type Started } from '../../../fixtures/episodic.fixture.ts'
import { gatedPolicy } from '../../../fixtures/gated-policy.fixture.ts'
import { startViewing, type Viewing } from './view.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)

const PLAYED_AT_ONCE = 20
const IN_FLIGHT = 4
const held = ['--policy', './gated.ts', '--tasks', '30', '--rollouts', '2', '--concurrency', String(IN_FLIGHT)]
const playHeld = (): Started => workshop.start(['run', world, ...held, '--out', 'runs/held'])

/** Reads the events of a server until one names a run that is as expected. Resolves with what the run then is. */
async function changeTo(viewing: Viewing, holds: (detail: RunDetail) => boolean): Promise<RunDetail> {
  const stop = new AbortController()
  const { body } = await viewing.get('/api/events', { signal: stop.signal })
  let text = ''
  for await (const chunk of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never)) {
    const blocks = (text + chunk).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, run] = /^event: run\ndata: "(.*)"$/.exec(block) ?? []
      if (run === undefined) continue
      const detail = await viewing.json<RunDetail>(`/api/r/${run}`)
      if (!holds(detail)) continue
      stop.abort()
      return detail
    }
  }
  throw new Error('The events ended.')
}

async function rowsOf(viewing: Viewing, run: string): Promise<string[]> {
  const response = await viewing.get(`/api/r/${run}/columns?names=task,attempt`)
  const { rows, columns } = decodeColumns(new Uint8Array(await response.arrayBuffer()))
  return Array.from({ length: rows }, (_, row) => `${columns.task?.[row]} ${columns.attempt?.[row]}`)
}

beforeAll(async () => {
  writeFileSync(at('gated.ts'), gatedPolicy(PLAYED_AT_ONCE))
  await workshop.main(['run', world, '--tasks', '3', '--out', 'runs/earlier'])
})

describe('GET /api/events', () => {
  it('follows a run as it is played, killed, and resumed, and neither loses nor doubles a row', async () => {
    const viewing = await startViewing(workshop)
    const seen = changeTo(viewing, ({ rows }) => rows === PLAYED_AT_ONCE)
    const run = playHeld()
    expect((await seen).entry).toMatchObject({ name: 'held', state: 'running', scheduled: 60 })
    const { id } = await viewing.runNamed('held')
    const isHeld = (inFlight: readonly EpisodeInFlight[]) =>
      inFlight.length === IN_FLIGHT && inFlight.every(({ steps }) => steps === 1)
    const shown = await viewing.detailOnce(id, ({ inFlight }) => isHeld(inFlight))
    expect(shown).toMatchObject({
      rows: PLAYED_AT_ONCE,
      entry: { finished: PLAYED_AT_ONCE, success: { count: PLAYED_AT_ONCE } },
      inFlight: Array.from({ length: IN_FLIGHT }, () => ({
        steps: 1,
        // Of the second step, which is held, nothing is called yet.
        call: expect.stringMatching(/^guess \{"value":-?\d+\}$/),
        answer: expect.stringMatching(/^The number is/),
        tokens: 0,
      })),
    })
    expect((await viewing.runNamed('held')).state).toBe('running')

    // The steps of one that is being played, for who asks: none is in a file before.
    expect(existsSync(at('runs/held/live-steps.json'))).toBe(false)
    const { task, attempt } = shown.inFlight[0] as EpisodeInFlight
    const follow = () => viewing.json<FollowedEpisode | null>(`/api/r/${id}/playing/${task}/${attempt}`)
    await vi.waitFor(async () => expect((await follow())?.events).toHaveLength(3), { timeout: 120_000, interval: 100 })
    expect(await follow()).toMatchObject({
      shown: { task, attempt, steps: 1 },
      events: [
        { kind: 'seen', text: expect.stringMatching(/number/) },
        { kind: 'call', text: 'guess', arguments: expect.stringMatching(/^\{"value":-?\d+\}$/) },
        { kind: 'seen', text: expect.stringMatching(/^The number is/) },
      ],
      dropped: 0,
    })
    const steps = JSON.parse(readFileSync(at('runs/held/live-steps.json'), 'utf8'))
    expect(steps.episodes).toHaveLength(1)
    expect(await viewing.json(`/api/r/${id}/playing/unknown/0`)).toBeNull()
    // Nobody asks any more.
    const isGone = () => expect(existsSync(at('runs/held/live-steps.json'))).toBe(false)
    await vi.waitFor(isGone, { timeout: 120_000, interval: 100 })

    const stopped = changeTo(viewing, ({ entry }) => entry.state === 'stopped')
    run.kill('SIGKILL')
    await run.ended
    expect(await stopped).toMatchObject({ entry: { name: 'held' }, rows: PLAYED_AT_ONCE })
    // What was in flight is not sealed, and no longer played.
    expect(existsSync(at('runs/held/live.json'))).toBe(true)
    const isOver = ({ complete, inFlight }: RunDetail) => complete && inFlight.length === 0
    const { commands } = await viewing.detailOnce(id, isOver)
    const [program, ...resume] = commands.resume?.split(' ') ?? []
    expect([program, ...resume.slice(-3)]).toEqual(['episodic', '--out', 'runs/held', '--resume'])
    appendFileSync(at('runs/held/episodes.jsonl'), '{"format":3,"run":"to')
    expect(await rowsOf(viewing, id)).toHaveLength(PLAYED_AT_ONCE)
    viewing.kill('SIGKILL')
    await viewing.ended

    const again = await startViewing(workshop)
    expect(await rowsOf(again, id)).toHaveLength(PLAYED_AT_ONCE)
    writeFileSync(at('open'), '')
    const finished = changeTo(again, ({ rows }) => rows === 60)
    expect((await workshop.run(resume)).status).toBe(0)
    await finished
    const rows = await rowsOf(again, id)
    expect([rows.length, new Set(rows).size]).toEqual([60, 60])
    expect(existsSync(at('runs/held/live.json'))).toBe(false)
    // The viewer notices a moment later that the run is over.
    const { summary, rows: counted } = await again.detailOnce(id, ({ entry }) => entry.state === 'finished')
    expect([summary.counts.finished, counted]).toEqual([60, 60])
    again.kill('SIGKILL')
  })
})
