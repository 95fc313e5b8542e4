import type { Completion } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { Prices } from '../model-options.ts'

type Usage = NonNullable<ReturnType<typeof readUsage>>

export function readUsage(value: unknown) {
  if (!isObject(value)) return null
  const { prompt_tokens_details: read, completion_tokens_details: written, cost } = value
  const details = {
    cachedTokens: isObject(read) ? countIn(read.cached_tokens) : null,
    cacheWriteTokens: isObject(read) ? countIn(read.cache_write_tokens) : null,
    reasoningTokens: isObject(written) ? countIn(written.reasoning_tokens) : null,
  }
  const [promptTokens, completionTokens] = [countIn(value.prompt_tokens), countIn(value.completion_tokens)]
  /** Both or neither: one of them alone is a sum that is too small. */
  let counts: Pick<Completion, 'promptTokens' | 'completionTokens'> | null = null
  if (promptTokens !== null && completionTokens !== null) {
    const { reasoningTokens } = details
    const total = countIn(value.total_tokens)
    const beside = total === null ? null : total - promptTokens - completionTokens
    counts = { promptTokens, completionTokens: writtenTokens({ completionTokens, reasoningTokens, beside }) }
  }
  return {
    ...details,
    counts,
    /** As OpenRouter says it, in the currency of the account. */
    cost: typeof cost === 'number' && cost >= 0 ? cost : null,
  }
}

/**
 * Returns how many tokens a model wrote, with its reasoning. Most servers count the reasoning in `completion_tokens`;
 * xAI counts it beside them, and Gemini's compatible API reports it in the total alone.
 *
 * @param beside - what the server's total has beyond the tokens read and written; `null` without a total
 */
export function writtenTokens(counted: {
  readonly completionTokens: number
  readonly reasoningTokens: number | null
  readonly beside: number | null
}): number {
  const { completionTokens, reasoningTokens, beside } = counted
  if (beside !== null) return completionTokens + (beside > 0 && beside === (reasoningTokens || beside) ? beside : 0)
  // Reasoning of more tokens than were written is no part of them.
  return completionTokens + (reasoningTokens !== null && reasoningTokens > completionTokens ? reasoningTokens : 0)
}

/**
 * Returns what an answer costs: by the prices of the run, else as its server says; `null` if neither is known. Without
 * counts nothing is known of what it costs, and 0 would be a lie. Tokens from a cache, and into one, are among those
 * that were read.
 */
export function costOf(usage: Usage | null, prices: Prices | null): number | null {
  if (!prices || !usage?.counts) return usage?.cost ?? null
  const { prompt, completion, cached = prompt, cacheWrite = prompt } = prices
  const { cachedTokens, cacheWriteTokens } = usage
  const { promptTokens, completionTokens } = usage.counts
  const [fromCache, intoCache] = [cachedTokens ?? 0, cacheWriteTokens ?? 0]
  const plain = Math.max(0, promptTokens - fromCache - intoCache)
  return (plain * prompt + fromCache * cached + intoCache * cacheWrite + completionTokens * completion) / 1_000_000
}

/** A count of tokens. Implausibly large ones are ignored, so that sums stay exact. */
function countIn(value: unknown): number | null {
  const count = Number.isInteger(value) ? (value as number) : -1
  return count >= 0 && count <= MOST_TOKENS ? count : null
}

const MOST_TOKENS = 1_000_000_000
