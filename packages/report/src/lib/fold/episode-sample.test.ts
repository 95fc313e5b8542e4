import type { EpisodeRecord } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEpisodeSample, type SampledEpisode } from './episode-sample.ts'
import { SHOWN_BYTES, scriptJson } from './shown-episode.ts'
import { playRun } from './simulated-run.ts'

function sampleOf(records: Iterable<EpisodeRecord>): SampledEpisode[] {
  const sample = createEpisodeSample()
  for (const record of records) sample.add(record)
  return sample.finish()
}

describe('createEpisodeSample', () => {
  const run = playRun({ tasks: 100, attempts: 4, failures: 0.2 })

  it('chooses the same episodes for any order and any repetitions', () => {
    const lines = [...run, { ...run[3]!, time: { started: 0, ended: 1 } }]
    const expected = sampleOf(lines)
    const anyOrder = fc.shuffledSubarray([...lines, ...lines.slice(0, 50)], { minLength: lines.length + 50 })
    fc.assert(
      fc.property(anyOrder, (shuffled) => {
        expect(sampleOf(shuffled)).toEqual(expected)
      }),
      { numRuns: 10 },
    )
  })

  it('contains the best, the worst, failed ones and a random sample', () => {
    const sample = sampleOf(run)
    const scores = run.flatMap(({ returns }) => returns?.unshaped ?? []).sort((a, b) => a - b)
    const chosen = (reason: SampledEpisode['because'][number]) =>
      sample.filter(({ because }) => because.includes(reason))
    expect(
      chosen('best')
        .map(({ returns }) => returns?.unshaped)
        .sort(),
    ).toEqual(scores.slice(-20).sort())
    expect(
      chosen('worst')
        .map(({ returns }) => returns?.unshaped)
        .sort(),
    ).toEqual(scores.slice(0, 20).sort())
    expect(chosen('failed')).toHaveLength(40)
    expect(chosen('failed').every(({ outcome }) => outcome === 'failed')).toBe(true)
    expect(chosen('drawn')).toHaveLength(100)
    expect(new Set(chosen('drawn').map(({ task }) => task)).size).toBeGreaterThan(40)
  })

  it('contains all episodes of a small run', () => {
    expect(sampleOf(run.slice(0, 30))).toHaveLength(30)
  })

  it('shortens an episode of any size to its share of the page, and marks the cuts', () => {
    const [record] = run as [EpisodeRecord]
    const text = '<'.repeat(1_000)
    const step = {
      ...record.steps[0]!,
      action: { tool: text, arguments: { text } },
      observation: { text, structured: { text } },
      reward: {
        total: 1,
        shaping: 0,
        terms: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}${text}`, i])),
      },
    }
    const task = { ...record.task, prompt: text, tags: new Array(100).fill(text) }
    const [shown] = sampleOf([{ ...record, task, seed: text, steps: new Array(60).fill(step) }])
    expect(Buffer.byteLength(scriptJson(shown))).toBeLessThanOrEqual(SHOWN_BYTES + 100)
    expect(shown?.steps.length).toBe(60 - (shown?.omitted ?? 0))
    expect([shown?.steps[0]?.number, shown?.steps.at(-1)?.number]).toEqual([1, 60])
    expect(shown?.prompt).toContain('more characters')
  })
})
