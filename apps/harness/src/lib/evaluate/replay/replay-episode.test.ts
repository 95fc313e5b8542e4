import { globSync } from 'node:fs'
import { join } from 'node:path'
import { replayEpisode } from '@episodic/analysis/replay/replay-episode'
import type { Scoring } from '@episodic/analysis/replay/scoring'
import { returnsOf } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { loadWorld } from '@episodic/play/worlds/world'
import { chainOf, type EpisodeRecord } from '@episodic/protocol'
import { type RecordedEpisode, readRecorded } from '@episodic/run/folder/read-recorded'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld } from '../../fixtures/episodic.fixture.ts'
import { traceEpisode } from './trace.ts'

/** The golden episodes of the example worlds: every way to end, to be refused and to fail. */
const golden: { readonly environment: EnvironmentDefinition; readonly record: EpisodeRecord }[] = []

beforeAll(async () => {
  for (const name of ['number-guessing', 'frozen-lake', 'warehouse']) {
    const { environment } = await loadWorld(exampleWorld(name))
    for (const file of globSync(join(exampleWorld(name), 'golden', `${environment.version}.jsonl`)))
      for await (const { record } of readRecorded(file)) golden.push({ environment, record: record as EpisodeRecord })
  }
  expect(golden.length).toBeGreaterThan(20)
})

const anyEpisode = fc.nat().map((n) => golden[n % golden.length] as (typeof golden)[number])

/** How the golden episodes were scored. */
const PLAIN: Scoring = { weights: {}, shaping: false, discount: 1 }
/** As of lines alone. */
const BARE = { strict: true, scoring: null }

/** As it is read from its line. */
function asRead(record: EpisodeRecord): RecordedEpisode {
  return { record, whole: chainOf(record) === record.chain }
}

/** Returns the record with a valid chain, as a forger can compute it too. */
function sealed(record: EpisodeRecord): RecordedEpisode {
  return { record: { ...record, chain: chainOf(record) }, whole: true }
}

describe('replayEpisode', () => {
  it.each([true, false])('reproduces every golden episode (strict: %s)', (strict) => {
    for (const { environment, record } of golden)
      expect(replayEpisode(environment, asRead(record), { strict, scoring: PLAIN })).toEqual({
        kind: 'reproduced',
        steps: record.steps.length,
      })
  })

  it('reproduces any prefix of an episode as a failed one, and as one that an agent left', () => {
    fc.assert(
      fc.property(
        anyEpisode,
        fc.nat(),
        fc.boolean(),
        fc.boolean(),
        ({ environment, record }, cut, closed, mayLeave) => {
          const steps = record.steps.slice(0, cut % record.steps.length)
          const outcome: EpisodeRecord['outcome'] = closed
            ? { kind: 'finished', end: { kind: 'truncated', reason: 'closed' } }
            : { kind: 'failed', error: { code: 'unexpected', message: 'It broke.' } }
          const beginning = { ...record, steps, outcome, returns: closed ? returnsOf(steps, 1) : null }
          const replay = replayEpisode(environment, sealed(beginning), { strict: false, scoring: PLAIN, mayLeave })
          if (closed && !mayLeave)
            expect(replay).toMatchObject({ kind: 'diverged', divergence: { field: 'end', replayed: 'null' } })
          else expect(replay).toEqual({ kind: 'reproduced', steps: steps.length })
        },
      ),
    )
  })

  it('finds an end that no step caused, and a removed start or state', () => {
    const { environment, record } = golden.find(({ record: { outcome } }) => ended(outcome) === 'terminated')!
    const none = returnsOf([], 1)
    for (const reason of ['step-limit', 'time-limit', 'closed'] as const) {
      const outcome = { kind: 'finished', end: { kind: 'truncated', reason } } as const
      const empty = sealed({ ...record, steps: [], outcome, returns: none })
      expect(replayEpisode(environment, empty, BARE)).toMatchObject({ divergence: { step: null, field: 'end' } })
    }
    expect(replayEpisode(environment, sealed({ ...record, steps: [], returns: none }), BARE)).toMatchObject({
      divergence: { step: null, field: 'end', replayed: 'null' },
    })
    expect(replayEpisode(environment, sealed({ ...record, start: null }), BARE)).toMatchObject({
      divergence: { step: 0, field: 'observation', recorded: 'nothing' },
    })
    const steps = record.steps.map((step) => ({ ...step, stateHash: null }))
    expect(replayEpisode(environment, sealed({ ...record, steps }), BARE)).toMatchObject({
      divergence: { step: 1, field: 'stateHash', recorded: 'null' },
    })
    const outcome = { kind: 'failed', error: { code: 'unexpected', message: 'It broke.' } } as const
    const neverBegun = sealed({ ...record, start: null, steps: [], outcome, returns: null })
    expect(replayEpisode(environment, neverBegun, BARE)).toEqual({ kind: 'not-replayable', steps: 0 })
  })

  it('recomputes rewards and returns from the replay, and finds any changed one', () => {
    const anyScore = fc.constantFrom('reward.total', 'reward.shaping', 'total', 'unshaped', 'discounted')
    fc.assert(
      fc.property(anyEpisode, fc.nat(), anyScore, ({ environment, record }, at, score) => {
        const step = at % record.steps.length
        const part = score.split('.')[1]
        const steps = record.steps.map((played, i) =>
          part && i === step ? { ...played, reward: { ...played.reward, [part]: 50 } } : played,
        )
        const honest = returnsOf(steps, 1)
        // Sums that fit the changed rewards: each is found at its step.
        const returns = record.returns && (part ? honest : { ...honest, [score]: 99 })
        const replay = replayEpisode(environment, asRead({ ...record, steps, returns }), {
          strict: true,
          scoring: PLAIN,
        })
        if (part)
          expect(replay).toMatchObject({
            steps: step,
            divergence: { step: step + 1, field: score, cause: 'score-edited', recorded: '50' },
          })
        else if (returns)
          expect(replay).toMatchObject({ divergence: { step: null, field: `returns.${score}`, cause: 'score-edited' } })
        else expect(replay.kind).toBe('reproduced')
      }),
    )
  })

  it('compares the returns of a line without its run with its own rewards, except the discounted one', () => {
    const { environment, record } = golden.find(({ record: { returns } }) => returns)!
    const returns = record.returns as NonNullable<EpisodeRecord['returns']>
    const changed = (change: Partial<EpisodeRecord['returns']>) =>
      replayEpisode(environment, asRead({ ...record, returns: { ...returns, ...change } }), BARE)
    expect(changed({ total: 99 })).toMatchObject({ divergence: { field: 'returns.total', recorded: '99' } })
    expect(changed({ unshaped: 99 })).toMatchObject({ divergence: { field: 'returns.unshaped', recorded: '99' } })
    expect(changed({ discounted: 99 })).toMatchObject({ kind: 'reproduced' })
    expect(replayEpisode(environment, asRead({ ...record, returns: null }), BARE)).toMatchObject({
      divergence: { field: 'returns', recorded: 'null' },
    })
  })

  it('finds any changed value of any step, and reports whether the line was sealed with it', () => {
    const anyField = fc.constantFrom('observation', 'terms', 'potential', 'refused', 'stateHash')
    fc.assert(
      fc.property(anyEpisode, fc.nat(), anyField, fc.boolean(), ({ environment, record }, at, field, sealed) => {
        const step = at % record.steps.length
        const steps = record.steps.map((played, i) => (i === step ? change(played, field) : played))
        const changed = { ...record, steps }
        const chain = sealed ? chainOf(changed) : record.chain
        const replay = replayEpisode(environment, asRead({ ...changed, chain }), { strict: true, scoring: PLAIN })
        expect(replay).toMatchObject({
          kind: 'diverged',
          steps: step,
          divergence: { step: step + 1, cause: sealed ? 'world-changed' : 'edited' },
        })
        if (replay.kind === 'diverged') expect(replay.divergence.field.split('.')[0]).toBe(field)
      }),
    )
  })

  it('checks the number of steps', () => {
    const { environment, record } = golden.find(({ record: { outcome } }) => ended(outcome) === 'terminated')!
    const [last] = record.steps.slice(-1) as [EpisodeRecord['steps'][number]]
    const longer = { ...record, steps: [...record.steps, last] }
    const replay = replayEpisode(environment, sealed(longer), BARE)
    expect(replay).toMatchObject({ divergence: { step: record.steps.length, field: 'end', recorded: 'null' } })
    const shorter = { ...record, steps: record.steps.slice(0, -1) }
    expect(replayEpisode(environment, sealed(shorter), BARE)).toMatchObject({
      divergence: { step: shorter.steps.length, field: 'end', replayed: 'null' },
    })
  })
})

describe('traceEpisode', () => {
  it('returns all steps of an episode that replays, and none after a divergence', () => {
    const { environment, record } = golden.find(({ record: { steps } }) => steps.length > 3)!
    const whole = [...traceEpisode(environment, record, { scoring: PLAIN })].join('\n')
    for (const [i, { action }] of record.steps.entries())
      expect(whole).toContain(`${i + 1}  ${action.tool} ${JSON.stringify(action.arguments)}`)
    expect(whole).not.toContain('≠')
    const steps = record.steps.map((step, i) => (i === 1 ? { ...step, potential: 7 } : step))
    const parted = [...traceEpisode(environment, { ...record, steps }, { scoring: PLAIN })].join('\n')
    expect(parted).toMatch(/≠ {2}potential\n {5}recorded {2}7\n {5}replayed {2}\S+$/)
    expect(parted).not.toMatch(/^3 {2}/m)
    const paid = [
      ...traceEpisode(
        environment,
        { ...record, returns: { total: 9, unshaped: 9, discounted: 9 } },
        { scoring: PLAIN },
      ),
    ]
    expect(paid.join('\n')).toMatch(/≠ {2}returns\S*\n {5}recorded {2}\S+\n {5}replayed {2}\S+$/)
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

describe('replayEpisode of a line that was sealed by another rule for the data below a text', () => {
  const guessing = () =>
    golden.find(
      ({ record: { environment: played, steps } }) =>
        played.name === 'number-guessing' && steps.length > 1 && steps.every(({ refused }) => refused === null),
    ) as (typeof golden)[number]

  /** Number guessing with one text for all answers. */
  const saying = (text: string, dataFollows: boolean): EnvironmentDefinition => {
    const { environment } = guessing()
    const { guess } = environment.tools as { readonly guess: EnvironmentDefinition['tools'][string] }
    const play: typeof guess.play = (context) => ({ ...guess.play(context), text })
    return { ...environment, tools: { guess: { ...guess, dataFollows, play } } }
  }
  type Data = { readonly value: number; readonly hint: string }

  /** Replays the episode with other texts of its answers. */
  const replay = (world: EnvironmentDefinition, textOf: (data: Data) => string) => {
    const { record } = guessing()
    const spoken = {
      ...record,
      steps: record.steps.map((step) => {
        const { text, structured } = step.observation
        const [, ...rest] = text.split('\n')
        const own = textOf(structured as unknown as Data)
        return { ...step, observation: { ...step.observation, text: [own, ...rest].join('\n') } }
      }),
    }
    return replayEpisode(world, sealed(spoken), { strict: true, scoring: PLAIN })
  }
  const reproduced = { kind: 'reproduced' }
  const diverged = { kind: 'diverged', divergence: { field: 'observation.text' } }

  it.each([true, false])('reproduces every line of true fields, and none of others: dataFollows is %s', (follows) => {
    const world = saying('Guessed.', follows)
    expect(replay(world, () => 'Guessed.')).toMatchObject(reproduced)
    expect(replay(world, (data) => `Guessed.\n${JSON.stringify(data)}`)).toMatchObject(reproduced)
    expect(replay(world, ({ hint }) => `Guessed.\n${JSON.stringify({ hint })}`)).toMatchObject(reproduced)
    expect(replay(world, () => 'Guesses.')).toMatchObject(diverged)
    expect(replay(world, ({ value }) => `Guessed.\n${JSON.stringify({ value: value + 1 })}`)).toMatchObject(diverged)
  })

  it.each([true, false])('reproduces a text that has a field as JSON itself: dataFollows is %s', (follows) => {
    const [step] = guessing().record.steps as [EpisodeRecord['steps'][number]]
    const { value } = step.observation.structured as unknown as Data
    const own = JSON.stringify({ value })
    const world = saying(own, follows)
    expect(replay(world, ({ hint }) => `${own}\n${JSON.stringify({ hint })}`)).toMatchObject(reproduced)
  })
})
