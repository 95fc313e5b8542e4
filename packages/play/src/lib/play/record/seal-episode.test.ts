import type { Episode } from '@episodic/env'
import { type EpisodeRecord, parseSealedRecord } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { describe, expect, it } from 'vitest'
import { sealEpisode, toFailure } from './seal-episode.ts'

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
  it('replaces half of a surrogate pair wherever a text of the episode has one', () => {
    const half = 'half \ud83d'
    const observation = { text: half, structured: { [half]: half } }
    const odd = steps.map((step) => ({ ...step, observation, completions: [{ ...asked, text: half, finish: half }] }))
    const cause = Object.assign(new Error(half), { code: half })
    const episode = { kind: 'failed', start, steps: odd, undecided: [], cause } as unknown as Episode
    const record = sealEpisode(episode, planned, { ...sealing, policy: { name: half, seed: 'q' } })
    expect(parseSealedRecord(JSON.parse(JSON.stringify(record))).data).toEqual(record)
    expect(record).toMatchObject({
      policy: { name: 'half \ufffd' },
      steps: [{ observation: { text: 'half \ufffd', structured: { 'half \ufffd': 'half \ufffd' } } }, {}],
      outcome: { kind: 'failed', error: { code: 'half \ufffd', message: 'half \ufffd' } },
    })
  })

  it.each<[string, object, string]>([
    ['a number that JSON does not have', { observation: { text: '', structured: { at: 1 / 0 } } }, 'got Infinity'],
    ['an answer without text', { completions: [{ ...asked, text: undefined }] }, 'text'],
    ['an answer with NaN tokens', { completions: [{ ...asked, promptTokens: Number.NaN }] }, 'promptTokens'],
  ])('records an episode with %s as failed', (_, part, words) => {
    const odd = steps.map((step) => ({ ...step, ...part }))
    const end = { kind: 'terminated', reason: 'solved' }
    const record = sealEpisode({ kind: 'finished', start, steps: odd, end } as unknown as Episode, planned, sealing)
    expect(parseSealedRecord(JSON.parse(JSON.stringify(record))).data).toEqual(record)
    expect(record).toMatchObject({
      steps: [],
      returns: null,
      outcome: { kind: 'failed', error: { code: 'record-invalid', message: expect.stringContaining(words) } },
    })
  })

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

describe('toFailure', () => {
  it.each([
    [new Error('a'), { code: 'unexpected', message: 'a' }],
    [Object.assign(new Error('b'), { code: 7 }), { code: 'unexpected', message: 'b' }],
    ['text', { code: 'unexpected', message: 'text' }],
    [undefined, { code: 'unexpected', message: 'undefined' }],
  ])('returns a code and a message for %s', (cause, failure) => {
    expect(toFailure(cause)).toEqual(failure)
  })
})
