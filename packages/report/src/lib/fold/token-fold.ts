import type { EpisodeRecord } from '@episodic/protocol'
import { completionsOf, countUnpriced, isAnswered, isCounted, ownCompletionsOf } from './completions.ts'
import { createExactSum } from './exact-sum.ts'
import { createLatencyHistogram } from './latency-histogram.ts'
import type { Summary } from './summary.ts'
import { linkCalls } from './token-tree.ts'

export type TokenFold = ReturnType<typeof createTokenFold>

/** Requests of steps that several leaves share count once. */
export function createTokenFold() {
  let episodes = 0
  let requests = 0
  let counted = 0
  let prompt = 0
  let completion = 0
  let [priced, unpriced] = [0, 0]
  const traced = { requests: 0, drifted: 0 }
  const cost = createExactSum()
  const model = createLatencyHistogram()
  const waited = { sum: createExactSum(), longest: 0, requests: 0 }
  return {
    add(record: Pick<EpisodeRecord, 'attempt' | 'steps' | 'undecided' | 'branch'>) {
      const asked = ownCompletionsOf(record)
      if (asked.length === 0) return
      episodes += 1
      requests += asked.length
      for (const one of asked) {
        if (isCounted(one) || !isAnswered(one)) counted += 1
        prompt += one.promptTokens
        completion += one.completionTokens
        unpriced += countUnpriced(one)
        if (isAnswered(one) && one.cost !== null) {
          priced += 1
          cost.add(one.cost)
        }
        if (!one.time) continue
        model.add(one.time.milliseconds)
        waited.sum.add(one.time.waited)
        waited.longest = Math.max(waited.longest, one.time.waited)
        if (one.time.waited > 0) waited.requests += 1
      }
      const ids = asked.filter(({ promptTokenIds, tokenIds }) => promptTokenIds && tokenIds).length
      if (ids === 0) return
      traced.requests += ids
      // Those of steps that leaves share are needed to link the others, and come before them.
      const links = linkCalls(completionsOf(record)).slice(-asked.length)
      traced.drifted += links.filter(({ driftsFrom }) => driftsFrom !== null).length
    },
    finish(): Summary['tokens'] {
      if (requests === 0) return null
      const known = counted < requests && { counted }
      const tracing = traced.requests > 0 && { traced }
      const part = priced > 0 && unpriced > 0 && { unpriced: { requests: unpriced, cost: cost.value() } }
      const whole = priced > 0 && unpriced === 0 ? cost.value() : null
      return { episodes, requests, ...known, prompt, completion, cost: whole, ...part, ...tracing }
    },
    times: (): Pick<Summary['time'], 'model' | 'waited'> => ({
      model: model.summarize(),
      waited:
        model.count === 0
          ? null
          : { milliseconds: waited.sum.value(), longest: waited.longest, requests: waited.requests },
    }),
  }
}

/** The tokens that models read and wrote; `null` if no model was asked, or those of a request were not counted. */
export function totalTokens(tokens: Summary['tokens']): number | null {
  if (tokens === null || tokens.counted !== undefined) return null
  // Summaries of earlier versions do not say how many were counted.
  return tokens.prompt === 0 ? null : tokens.prompt + tokens.completion
}
