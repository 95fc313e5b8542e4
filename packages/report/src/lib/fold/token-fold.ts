import type { Completion, EpisodeRecord } from '@episodic/protocol'
import { createExactSum } from './exact-sum.ts'
import { createLatencyHistogram } from './latency-histogram.ts'
import type { Summary } from './summary.ts'

/** Sums the requests to language models, and their times. */
export interface TokenFold {
  add(record: Pick<EpisodeRecord, 'attempt' | 'steps' | 'undecided' | 'branch'>): void
  /** `null` if there was no request. */
  finish(): Summary['tokens']
  /** How long the answers took, and what the requests waited. */
  times(): Pick<Summary['time'], 'model' | 'waited'>
}

/** Creates an empty fold. Requests of steps that several leaves share count once. */
export function createTokenFold(): TokenFold {
  let episodes = 0
  let requests = 0
  let prompt = 0
  let completion = 0
  let priced = true
  const cost = createExactSum()
  const model = createLatencyHistogram()
  const waited = { sum: createExactSum(), longest: 0, requests: 0 }
  return {
    add({ attempt, steps, undecided = [], branch }) {
      // An episode that ended before it could branch is sealed once for each of its leaves.
      if (branch && attempt % branch.copies !== 0) return
      if (undecided.length === 0 && !steps.some(({ completions }) => completions)) return
      const own = steps.slice(sharedSteps(branch)).flatMap(({ completions = [] }) => completions)
      const asked: readonly Completion[] = [...own, ...undecided]
      if (asked.length === 0) return
      episodes += 1
      requests += asked.length
      for (const one of asked) {
        prompt += one.promptTokens
        completion += one.completionTokens
        if (one.cost === null) priced = false
        else cost.add(one.cost)
        if (!one.time) continue
        model.add(one.time.milliseconds)
        waited.sum.add(one.time.waited)
        waited.longest = Math.max(waited.longest, one.time.waited)
        if (one.time.waited > 0) waited.requests += 1
      }
    },
    finish() {
      return requests === 0 ? null : { episodes, requests, prompt, completion, cost: priced ? cost.value() : null }
    },
    times: () => ({
      model: model.summarize(),
      waited:
        model.count === 0
          ? null
          : { milliseconds: waited.sum.value(), longest: waited.longest, requests: waited.requests },
    }),
  }
}

/** Whether the server counted the tokens of an answer. No request reads none, so 0 is written for those that did not. */
export function isCounted({ promptTokens }: Pick<Completion, 'promptTokens'>): boolean {
  return promptTokens > 0
}

/** How many steps a leaf shares with its parent: those before the last fork. */
function sharedSteps(branch: EpisodeRecord['branch']): number {
  const fork = branch?.path.findLastIndex((line) => line > 0) ?? -1
  return branch?.at[fork] ?? 0
}
