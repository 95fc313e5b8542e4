import { serialize } from 'node:v8'
import { defineEnvironment, rehearse } from '@episodic/mcp-server'
import type { EpisodeRecord } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import { applyChanges } from '@episodic/report/view/apply-changes'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { observedStates, replayStates } from './replay-states.ts'

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

describe('replayStates', () => {
  const rows = defineEnvironment({
    name: 'rows',
    version: '1.0.0',
    description: 'Has many rows.',
    state: { public: z.object({}), private: z.object({ rows: z.record(z.string(), z.object({ id: z.int() })) }) },
    start: () => ({
      public: {},
      private: { rows: Object.fromEntries(Array.from({ length: 900 }, (_, id) => [`r${id}`, { id }])) },
    }),
    observe: () => 'Rows.',
    tools: ({ tool }) => ({
      copy: tool({
        description: 'Copies them.',
        input: z.object({}),
        play({ state, end, say }) {
          const { rows: all } = state.private
          all.copied = { ...all.r7, id: 70 }
          end('out-of-guesses')
          return say('Copied.')
        },
      }),
    }),
    rewards: {},
  })

  it('returns plain values, which can leave the thread, of a large state too', () => {
    const [record] = run as [EpisodeRecord]
    const world = rehearse(rows, { seed: 'seed' })
    const { observation, potential } = world.start
    const { stateHash, ...played } = world.play('copy', {})
    const steps = [
      {
        ...record.steps[0],
        action: { tool: 'copy', arguments: {} },
        observation: played.observation,
        reward: { total: 0, terms: {}, shaping: 0 },
        potential: played.potential,
        refused: null,
        stateHash,
      },
    ]
    const states = replayStates(rows, {
      ...record,
      environment: { name: 'rows', version: '1.0.0' },
      params: {},
      seed: 'seed',
      start: { observation, potential },
      steps,
    } as EpisodeRecord)
    expect(states).toMatchObject({ source: 'replayed', why: null })
    expect(serialize(states).length).toBeGreaterThan(8_192)
    expect(states.steps).toEqual([{ step: 0, public: [], private: [{ path: '/rows/copied', after: { id: 70 } }] }])
  })
})
