import type { Completion } from '@episodic/protocol'
import { exactSum, isCounted } from '@episodic/report'

/** What the language models of an episode used. */
export type ModelUsage = NonNullable<ReturnType<typeof usageOf>>

/** Sums answers of language models; a figure that one of them lacks has no sum. `null` for no answers. */
export function usageOf(completions: readonly Completion[]) {
  if (completions.length === 0) return null
  const sum = (read: (completion: Completion) => number | null | undefined): number | null => {
    const values = completions.map(read).filter((value) => value !== null && value !== undefined)
    return values.length < completions.length ? null : exactSum(values)
  }
  return {
    requests: completions.length,
    /** Tokens read and written; `null` if a server did not count them. */
    promptTokens: sum((completion) => (isCounted(completion) ? completion.promptTokens : null)),
    completionTokens: sum((completion) => (isCounted(completion) ? completion.completionTokens : null)),
    /** Of the prompt tokens; `null` if the server did not report them. */
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    /** Of the completion tokens; `null` if the server did not report them. */
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
    /** `null` without prices, and if a server did not count its tokens. */
    cost: sum(({ cost }) => cost),
    /** Of the requests that were answered; `null` if one of them was not measured. */
    milliseconds: sum(({ time }) => time?.milliseconds),
    /** Milliseconds of waiting before them; `null` if one of them was not measured. */
    waited: sum(({ time }) => time?.waited),
  }
}
