import type { Episode } from '@episodic/env'
import { type EpisodeRecord, parseSealedRecord } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import type { PlannedEpisode } from '../plan/plan.ts'
import { describeFailure, sealEpisode } from './seal-episode.ts'

const [played] = playRun({ tasks: 1, attempts: 1, failures: 0 }) as [EpisodeRecord]
const planned: PlannedEpisode = {
  task: {
    ...played.task,
    environment: played.environment,
    tools: ['guess'],
    hints: [],
    params: played.params,
    seed: played.seed,
    limits: {},
    metadata: {},
  },
  attempt: 2,
}
const start = {
  observation: { text: 'Go.', structured: null },
  info: {
    id: 'a',
    capability: 'secret',
    params: { low: 1 },
    seed: 's',
    limits: { steps: 9, seconds: null, bytes: 9 },
    potential: 0.5,
  },
}
const asked = { model: 'm', promptTokens: 9, completionTokens: 1, cost: null, text: 'Hm.' }
const steps = played.steps.slice(0, 2).map((step, i) => ({
  ...step,
  reward: { total: i + 1, terms: { cost: i }, shaping: 1 },
  end: null,
  info: { seq: i + 1, potential: 0.25, refused: step.refused, stateHash: 'a1', replayed: false },
  milliseconds: 1.23456789,
  completions: i === 0 ? [] : [asked],
}))
const sealing = {
  run: 'test',
  policy: { name: 'p', seed: 'q' },
  discount: 0.5,
  time: { started: 0.1234567, ended: 2 },
}

describe('sealEpisode', () => {
  it('returns a valid record of the episode with its returns', () => {
    const episode = {
      kind: 'finished',
      start,
      steps,
      end: { kind: 'terminated', reason: 'solved' },
    } as unknown as Episode
    const record = sealEpisode(episode, planned, sealing)
    expect(parseSealedRecord(JSON.parse(JSON.stringify(record))).data).toEqual(record)
    expect(record).toMatchObject({
      attempt: 2,
      params: { low: 1 },
      // Total 1 + 2, shaping 1 + 1, and 1 + 0.5 · 2.
      returns: { total: 3, unshaped: 1, discounted: 2 },
      outcome: { kind: 'finished', end: { reason: 'solved' } },
      time: { started: 0.123, ended: 2 },
      steps: [{ milliseconds: 1.235, potential: 0.25 }, { completions: [asked] }],
    })
    expect(JSON.stringify(record)).not.toContain('secret')
  })

  it('records a failure with its cause, never with a return (invariant 3)', () => {
    const cause = Object.assign(new Error('gone'), { code: 'connection-failed' })
    const failed = sealEpisode({ kind: 'failed', start: null, steps: [], cause, undecided: [asked] }, planned, sealing)
    expect(failed).toMatchObject({
      start: null,
      params: played.params,
      returns: null,
      undecided: [asked],
      outcome: { kind: 'failed', error: { code: 'connection-failed', message: 'gone' } },
    })
    expect(parseSealedRecord(failed).data).toEqual(failed)
  })
})

describe('describeFailure', () => {
  it.each([
    [new Error('a'), { code: 'unexpected', message: 'a' }],
    [Object.assign(new Error('b'), { code: 7 }), { code: 'unexpected', message: 'b' }],
    ['text', { code: 'unexpected', message: 'text' }],
    [undefined, { code: 'unexpected', message: 'undefined' }],
  ])('returns a code and a message for %s', (cause, failure) => {
    expect(describeFailure(cause)).toEqual(failure)
  })
})
