import type { EpisodeRecord } from '@episodic/protocol'
import { applyChanges } from '@episodic/report'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import { observedStates } from './replay-states.ts'

const run = playRun({ tasks: 20, attempts: 1, failures: 0 })

describe('observedStates', () => {
  it('returns the changes of structured observations, and none where a step has only a text', () => {
    const record = run.find(({ steps }) => steps.some(({ refused }) => refused !== null)) as EpisodeRecord
    const { source, start, steps, why } = observedStates(record)
    expect([source, start]).toEqual(['observed', { public: record.start?.observation.structured, private: null }])
    expect(why).toContain('what the player observed')
    let now = start?.public ?? null
    for (const [i, { step, public: changes, private: hidden }] of steps.entries()) {
      const before = now
      now = applyChanges(now, changes)
      expect([step, hidden]).toEqual([i, []])
      expect(now).toEqual(record.steps[i]?.observation.structured ?? before)
    }
    expect(steps).toHaveLength(record.steps.length)
  })

  it('has no states of an episode whose observations are texts alone', () => {
    const [record] = run as [EpisodeRecord]
    const steps = record.steps.map((step) => ({ ...step, observation: { ...step.observation, structured: null } }))
    expect(observedStates({ ...record, steps })).toMatchObject({ source: 'unavailable', start: null, steps: [] })
  })
})
