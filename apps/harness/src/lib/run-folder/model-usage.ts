import type { Completion } from '@episodic/protocol'
import { exactSum, isCounted } from '@episodic/report'

/** What the language models of an episode used. */
export interface ModelUsage {
  readonly requests: number
  /** Tokens read and written; `null` if a server did not count them. */
  readonly promptTokens: number | null
  readonly completionTokens: number | null
  /** Of the prompt tokens; `null` if the server did not report them. */
  readonly cachedTokens: number | null
  /** Of the completion tokens; `null` if the server did not report them. */
  readonly reasoningTokens: number | null
  /** `null` without prices, and if a server did not count its tokens. */
  readonly cost: number | null
  /** Milliseconds of the requests that were answered; `null` if one of them was not measured. */
  readonly milliseconds: number | null
  /** Milliseconds of waiting before them; `null` if one of them was not measured. */
  readonly waited: number | null
}

/** Sums answers of language models; a figure that one of them lacks has no sum. `null` for no answers. */
export function usageOf(completions: readonly Completion[]): ModelUsage | null {
  if (completions.length === 0) return null
  const sum = (read: (completion: Completion) => number | null | undefined): number | null => {
    const values = completions.map(read).filter((value) => value !== null && value !== undefined)
    return values.length < completions.length ? null : exactSum(values)
  }
  return {
    requests: completions.length,
    promptTokens: sum((completion) => (isCounted(completion) ? completion.promptTokens : null)),
    completionTokens: sum((completion) => (isCounted(completion) ? completion.completionTokens : null)),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
    cost: sum(({ cost }) => cost),
    milliseconds: sum(({ time }) => time?.milliseconds),
    waited: sum(({ time }) => time?.waited),
  }
}
