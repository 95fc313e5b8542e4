import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type SimulatedTraining, simulateTraining, WEDGED } from './simulated-trainer.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-rollout-queue-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const training = (changed: Partial<SimulatedTraining> & Pick<SimulatedTraining, 'close'>) =>
  simulateTraining({
    ...{ seed: '1', steps: 1_000, slots: 48, groupsOfAStep: 4, attempts: 8, stepSeconds: 30, stuck: 0.002 },
    file: join(folder, `${files++}.jsonl`),
    ...changed,
  })

/** Returns the largest distance of two distributions, and that which samples of one have in one of a thousand cases. */
function kolmogorovSmirnov(one: readonly number[], other: readonly number[]) {
  const [a, b] = [one, other].map((values) => values.toSorted((x, y) => x - y)) as [number[], number[]]
  let [i, j, distance] = [0, 0, 0]
  while (i < a.length && j < b.length) {
    const at = Math.min(a[i] as number, b[j] as number)
    while ((a[i] ?? Number.POSITIVE_INFINITY) <= at) i += 1
    while ((b[j] ?? Number.POSITIVE_INFINITY) <= at) j += 1
    distance = Math.max(distance, Math.abs(i / a.length - j / b.length))
  }
  return { distance, critical: 1.95 * Math.sqrt((a.length + b.length) / (a.length * b.length)) }
}

describe('rollouts of which some never end', () => {
  it('wedge a training that waits for all', async () => {
    const { steps, longestWait } = await training({ close: { others: 'park' } })
    expect(steps).toBeLessThan(1_000)
    expect(longestWait).toBeGreaterThanOrEqual(WEDGED)
  })

  it('hold up no step of 1,000 where groups close by a deadline, also after kills of all processes', async () => {
    const close = { seconds: 300, others: 'park' } as const
    const played = await training({ close, staleness: 100, parksAfter: 240, killsAt: [100, 500, 501, 900] })
    expect(played).toMatchObject({ steps: 1_000, doubled: 0 })
    expect(played.longestWait).toBeLessThan(600)
    // Void are those alone that never end.
    expect(Object.keys(played.void)).toEqual(['stale'])
    const { distance, critical } = kolmogorovSmirnov(played.trained, played.asked)
    expect(distance).toBeLessThan(critical)
  })

  it('bias what is learned towards short ones where the unfinished are ended', async () => {
    const { trained, asked } = await training({ close: { seconds: 120, others: 'end' }, steps: 300 })
    const { distance, critical } = kolmogorovSmirnov(trained, asked)
    expect(distance).toBeGreaterThan(2 * critical)
  })
})
