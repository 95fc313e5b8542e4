import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '@episodic/mcp-server'
import { chainOf, type EpisodeRecord } from '@episodic/protocol'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld } from '../episodic.fixture.ts'
import { loadWorld } from '../world.ts'
import { type RecordedEpisode, readRecorded } from './read-recorded.ts'
import { replayEpisode } from './replay-episode.ts'
import { traceEpisode } from './trace.ts'

/** The golden episodes of the example worlds: every way to end, to be refused and to fail. */
const golden: { readonly environment: Environment; readonly record: EpisodeRecord }[] = []

beforeAll(async () => {
  for (const name of ['number-guessing', 'frozen-lake', 'warehouse']) {
    const { environment } = await loadWorld(exampleWorld(name))
    for (const file of globSync(join(exampleWorld(name), 'golden', `${environment.version}.jsonl`)))
      for await (const { record } of readRecorded(file)) golden.push({ environment, record })
  }
  expect(golden.length).toBeGreaterThan(20)
})

const anyEpisode = fc.nat().map((n) => golden[n % golden.length] as (typeof golden)[number])

/** As it is read from its line. */
function asRead(record: EpisodeRecord): RecordedEpisode {
  return { record, whole: chainOf(record) === record.chain }
}

describe('replayEpisode', () => {
  it.each([true, false])('reproduces every golden episode (strict: %s)', (strict) => {
    for (const { environment, record } of golden)
      expect(replayEpisode(environment, asRead(record), strict)).toEqual({
        kind: 'reproduced',
        steps: record.steps.length,
      })
  })

  it('reproduces any beginning of an episode, as one that was closed and as one that failed', () => {
    fc.assert(
      fc.property(anyEpisode, fc.nat(), fc.boolean(), ({ environment, record }, cut, closed) => {
        const steps = record.steps.slice(0, cut % record.steps.length)
        const outcome: EpisodeRecord['outcome'] = closed
          ? { kind: 'finished', end: { kind: 'truncated', reason: 'closed' } }
          : { kind: 'failed', error: { code: 'unexpected', message: 'It broke.' } }
        const beginning = { ...record, steps, outcome }
        const replay = replayEpisode(environment, asRead({ ...beginning, chain: chainOf(beginning) }), false)
        expect(replay).toEqual({ kind: 'reproduced', steps: steps.length })
      }),
    )
  })

  it('finds any one value of any one step that was changed, and tells whether the line was sealed so', () => {
    const anyField = fc.constantFrom('observation', 'terms', 'potential', 'refused', 'stateHash')
    fc.assert(
      fc.property(anyEpisode, fc.nat(), anyField, fc.boolean(), ({ environment, record }, at, field, sealed) => {
        const step = at % record.steps.length
        const steps = record.steps.map((played, i) => (i === step ? change(played, field) : played))
        const changed = { ...record, steps }
        const chain = sealed ? chainOf(changed) : record.chain
        const replay = replayEpisode(environment, asRead({ ...changed, chain }), true)
        expect(replay).toMatchObject({
          kind: 'diverged',
          steps: step,
          divergence: { step: step + 1, cause: sealed ? 'world-changed' : 'edited' },
        })
        if (replay.kind === 'diverged') expect(replay.divergence.field.split('.')[0]).toBe(field)
      }),
    )
  })

  it('does not take the number of steps on trust', () => {
    const { environment, record } = golden.find(({ record: { outcome } }) => ended(outcome) === 'terminated')!
    const [last] = record.steps.slice(-1) as [EpisodeRecord['steps'][number]]
    const longer = { ...record, steps: [...record.steps, last] }
    const replay = replayEpisode(environment, asRead({ ...longer, chain: chainOf(longer) }), true)
    expect(replay).toMatchObject({ divergence: { step: record.steps.length, field: 'end', recorded: 'null' } })
    const shorter = { ...record, steps: record.steps.slice(0, -1) }
    expect(replayEpisode(environment, asRead({ ...shorter, chain: chainOf(shorter) }), true)).toMatchObject({
      divergence: { step: shorter.steps.length, field: 'end', replayed: 'null' },
    })
  })
})

describe('traceEpisode', () => {
  it('tells all moments of an episode that replays, and none after the one that parts', () => {
    const { environment, record } = golden.find(({ record: { steps } }) => steps.length > 3)!
    const whole = [...traceEpisode(environment, record)].join('\n')
    for (const [i, { action }] of record.steps.entries())
      expect(whole).toContain(`${i + 1}  ${action.tool} ${JSON.stringify(action.arguments)}`)
    expect(whole).not.toContain('≠')
    const steps = record.steps.map((step, i) => (i === 1 ? { ...step, potential: 7 } : step))
    const parted = [...traceEpisode(environment, { ...record, steps })].join('\n')
    expect(parted).toMatch(/≠ {2}potential\n {5}recorded {2}7\n {5}replayed {2}\S+$/)
    expect(parted).not.toMatch(/^3 {2}/m)
  })
})

function change(step: EpisodeRecord['steps'][number], field: string): EpisodeRecord['steps'][number] {
  const { observation, reward } = step
  switch (field) {
    case 'observation':
      return { ...step, observation: { ...observation, structured: { ...observation.structured, more: 1 } } }
    case 'terms':
      return { ...step, reward: { ...reward, terms: { ...reward.terms, bonus: 1 } } }
    case 'potential':
      return { ...step, potential: (step.potential ?? 0) + 1 }
    case 'refused':
      return { ...step, refused: step.refused === 'rules' ? null : 'rules' }
    default:
      return { ...step, stateHash: 'f'.repeat(32) }
  }
}

function ended(outcome: EpisodeRecord['outcome']): string {
  return outcome.kind === 'finished' ? outcome.end.kind : 'failed'
}
