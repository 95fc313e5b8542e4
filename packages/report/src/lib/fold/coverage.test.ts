import { createRng, type Rng } from '@episodic/protocol'
import { probit } from 'simple-statistics'
import { describe, expect, it } from 'vitest'
import { createRate } from './clustered-rate.ts'
import { clusteredMean } from './statistics.ts'

const DATA_SETS = process.env.CI ? 2_000 : 800 // CI draws all that docs/judge/trust.md promises.

/** A simulated run: tasks, rollouts per task, and the share of the variance between tasks. */
interface Design {
  readonly tasks: number
  readonly rollouts: number | 'uneven'
  readonly alike: number
}
const DESIGNS: readonly Design[] = [
  { tasks: 5, rollouts: 4, alike: 0.5 },
  { tasks: 10, rollouts: 8, alike: 0.8 },
  { tasks: 30, rollouts: 1, alike: 0 },
  { tasks: 30, rollouts: 4, alike: 0 },
  { tasks: 30, rollouts: 'uneven', alike: 0.5 },
  { tasks: 100, rollouts: 4, alike: 0.5 },
]

const rolloutsOf = ({ rollouts }: Design, rng: Rng) => (rollouts === 'uneven' ? rng.int(1, 8) : rollouts)

/** The coverage of clustered intervals, and that of intervals that ignore clusters. */
function coverage(design: Design, truth: number, draw: (design: Design, rng: Rng) => Interval[]): number[] {
  const rng = createRng(`coverage ${JSON.stringify(design)}`)
  const held = [0, 0]
  for (let set = 0; set < DATA_SETS; set++)
    for (const [i, { low, high }] of draw(design, rng).entries())
      held[i] = (held[i] ?? 0) + Number((low ?? truth + 1) <= truth && truth <= (high ?? truth - 1))
  return held.map((count) => count / DATA_SETS)
}
type Interval = { readonly low: number | null; readonly high: number | null }

function meansOf(design: Design, rng: Rng): Interval[] {
  const [values, clusters]: [number[], number[]] = [[], []]
  for (let task = 0; task < design.tasks; task++) {
    const shared = Math.sqrt(design.alike) * normal(rng)
    for (let left = rolloutsOf(design, rng); left > 0; left--) {
      values.push(shared + Math.sqrt(1 - design.alike) * normal(rng))
      clusters.push(task)
    }
  }
  return [clusteredMean(values, clusters), clusteredMean(values, [...values.keys()])].filter((mean) => mean !== null)
}

function ratesOf(design: Design, rng: Rng): Interval[] {
  const [clustered, independent] = [createRate(), createRate()]
  let episode = 0
  for (let task = 0; task < design.tasks; task++) {
    const [alike, shared] = [rng.chance(design.alike), rng.chance(0.7)]
    for (let left = rolloutsOf(design, rng); left > 0; left--) {
      const success = alike ? shared : rng.chance(0.7)
      clustered.add(task, success)
      independent.add(episode++, success)
    }
  }
  return [clustered.finish(), independent.finish()]
}

function normal(rng: Rng): number {
  return probit(Math.min(1 - 1e-9, Math.max(1e-9, rng.float())))
}

describe('95 % intervals over simulated runs', () => {
  it.each(DESIGNS)('hold the mean in 92 to 98 of 100: $tasks tasks, $rollouts rollouts, $alike alike', (design) => {
    const [clustered = 0, independent = 0] = coverage(design, 0, meansOf)
    expect(clustered).toBeGreaterThanOrEqual(0.92)
    expect(clustered).toBeLessThanOrEqual(0.98)
    if (design.alike > 0) expect(independent).toBeLessThan(0.85)
  })

  it.each(DESIGNS)('hold the rate in 92 to 98 of 100: $tasks tasks, $rollouts rollouts, $alike alike', (design) => {
    const [clustered = 0, independent = 0] = coverage(design, 0.7, ratesOf)
    expect(clustered).toBeGreaterThanOrEqual(0.92)
    // With few tasks, the intervals are conservative.
    if (design.tasks >= 10) expect(clustered).toBeLessThanOrEqual(0.98)
    if (design.alike > 0) expect(independent).toBeLessThan(0.85)
  })
})
