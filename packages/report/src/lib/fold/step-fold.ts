import type { EpisodeRecord, RecordedStep } from '@episodic/protocol'
import { createBoundedMap } from './bounded-map.ts'
import { createExactSum, type ExactSum } from './exact-sum.ts'
import { createLatencyHistogram } from './latency-histogram.ts'
import type { Latency, Summary } from './summary.ts'

const MOST_STEPS = 1_000
const MOST_TERMS = 64

export type StepFold = ReturnType<typeof createStepFold>

/** Creates an empty fold over the figures of steps. Its sums are exact, so their order does not matter. */
export function createStepFold() {
  const steps: { count: number; readonly total: ExactSum; readonly shaping: ExactSum }[] = []
  const terms = createBoundedMap(MOST_TERMS, () => ({ sum: createExactSum(), steps: 0 }))
  let episodes = 0
  let missing = 0
  let unrewarded = 0
  const latency = createLatencyHistogram()
  return {
    /** @param counts - whether the episode finished. One that failed adds latencies alone. */
    add(episode: EpisodeRecord['steps'], counts: boolean) {
      for (const { milliseconds } of episode) if (milliseconds !== null) latency.add(milliseconds)
      if (!counts) return
      episodes += 1
      for (let i = 0; i < Math.min(episode.length, MOST_STEPS); i++) {
        const { reward } = episode[i] as RecordedStep
        steps[i] ??= { count: 0, total: createExactSum(), shaping: createExactSum() }
        const step = steps[i] as (typeof steps)[number]
        step.count += 1
        step.total.add(reward.total)
        step.shaping.add(reward.shaping)
      }
      const before = missing
      for (const { reward } of episode) {
        const names = Object.keys(reward.terms)
        if (names.length === 0) missing += 1
        for (const name of names) {
          const term = terms.of(name)
          if (!term) continue
          const value = reward.terms[name] as number
          term.sum.add(value)
          if (value !== 0) term.steps += 1
        }
      }
      if (episode.length > 0 && missing - before === episode.length) unrewarded += 1
    },
    finish: (): { readonly rewards: Summary['rewards']; readonly latency: Latency | null } => ({
      rewards: {
        byStep: steps.map(({ count, total, shaping }) => ({
          count,
          total: total.value() / count,
          unshaped: (total.value() - shaping.value()) / count,
        })),
        byTerm: terms.entries().map(([name, term]) => ({ name, mean: term.sum.value() / episodes, steps: term.steps })),
        missing,
        unrewarded,
      },
      latency: latency.summarize(),
    }),
  }
}
