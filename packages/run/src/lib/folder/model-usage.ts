import type { Completion } from '@episodic/protocol'
import { countUnpriced, isAnswered, isCounted } from '@episodic/report/fold/completions'
import { exactSum } from '@episodic/report/fold/exact-sum'

export type ModelUsage = NonNullable<ReturnType<typeof usageOf>>

/** Sums answers of language models; a figure that one of them lacks has no sum. `null` for no answers. */
export function usageOf(completions: readonly Completion[]) {
  if (completions.length === 0) return null
  const answered = completions.filter(isAnswered)
  const isPriced = completions.every((completion) => countUnpriced(completion) === 0)
  const sum = (read: (completion: Completion) => number | null | undefined): number | null => {
    const values = answered.map(read).filter((value) => value !== null && value !== undefined)
    return values.length < answered.length ? null : exactSum(values)
  }
  return {
    requests: completions.length,
    /** Tokens read and written; `null` if a server did not count them. */
    promptTokens: sum((completion) => (isCounted(completion) ? completion.promptTokens : null)),
    completionTokens: sum((completion) => (isCounted(completion) ? completion.completionTokens : null)),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
    /** `null` without prices, and unless the cost of every request is known. */
    cost: isPriced ? sum(({ cost }) => cost) : null,
    milliseconds: sum(({ time }) => time?.milliseconds),
    /** Milliseconds of waiting before them; `null` if one of them was not measured. */
    waited: sum(({ time }) => time?.waited),
  }
}
