import { type Completion, type EpisodeRecord, type Json, parseSealedRecord } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { rowOf } from './row.ts'
import { sealedShape } from './sealed-shape.ts'

const run = playRun({ tasks: 4, attempts: 2, failures: 0.3 })

const completion: Completion = {
  model: 'm',
  promptTokens: 10,
  cachedTokens: 4,
  completionTokens: 2,
  cost: 0.1,
  text: null,
  policyVersion: '12',
  time: { milliseconds: 5, waited: 1 },
  tries: [{ status: 503, code: 'http', milliseconds: 3 }],
  cut: 7,
}

/** Lines of the run, and lines of a language model. */
const lines = run.flatMap((line): EpisodeRecord[] => [
  line,
  {
    ...line,
    policy: { ...line.policy, version: '11' },
    steps: line.steps.map((step) => ({ ...step, completions: [completion] })),
    undecided: [completion],
    transcript: { by: 'harness', messages: [], tools: [], cut: 3 },
  },
])

/** The places of all values within a line. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, item]) => placesIn(item, [...path, key]))]
}

function replaced(value: unknown, [key, ...path]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  copy[key] = replaced(copy[key], path, by)
  return copy
}

describe('sealedShape', () => {
  it('accepts each line that a report accepts, and brings format 2 to this one', () => {
    for (const line of lines) expect(sealedShape(line)).toBe(line)
    const { try: _, seal: __, ...older } = run[0] as EpisodeRecord
    const second = { ...older, format: 2 } as unknown as Json
    expect(sealedShape(second)).toEqual(parseSealedRecord(second).data)
  })

  it('returns a line of which a row can be made, or nothing, whatever is wrong with it', () => {
    const anyDamage = fc
      .constantFrom(...lines)
      .chain((line) => fc.tuple(fc.constant(line), fc.constantFrom(...placesIn(line)), fc.jsonValue()))
    fc.assert(
      fc.property(anyDamage, ([line, path, by]) => {
        const damaged = JSON.parse(JSON.stringify(replaced(line, path, by)))
        const shape = sealedShape(damaged)
        if (parseSealedRecord(damaged).success) expect(shape).not.toBeNull()
        if (shape) expect(rowOf(shape).steps).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 2_000 },
    )
  })
})
