import { isObject } from '@episodic/protocol/internal'
import type { Prices } from '../model-options.ts'

/** The tokens of an answer, as its server counted them; `null` for what it did not count. */
type Usage = NonNullable<ReturnType<typeof readUsage>>

/** Reads the field `usage` of an answer; `null` if it is no object. */
export function readUsage(value: unknown) {
  if (!isObject(value)) return null
  const { prompt_tokens_details: read, completion_tokens_details: written, cost } = value
  return {
    promptTokens: countIn(value.prompt_tokens) ?? 0,
    completionTokens: countIn(value.completion_tokens) ?? 0,
    cachedTokens: isObject(read) ? countIn(read.cached_tokens) : null,
    cacheWriteTokens: isObject(read) ? countIn(read.cache_write_tokens) : null,
    reasoningTokens: isObject(written) ? countIn(written.reasoning_tokens) : null,
    /** As OpenRouter says it, in the currency of the account. */
    cost: typeof cost === 'number' && cost >= 0 ? cost : null,
  }
}

/**
 * Returns what an answer costs: by the prices of the run, else as its server says; `null` if neither is known. Without
 * counts nothing is known of what it costs, and 0 would be a lie. Tokens from a cache, and into one, are among those
 * that were read.
 */
export function costOf(usage: Usage | null, prices: Prices | null): number | null {
  if (!prices || !usage) return usage?.cost ?? null
  const { prompt, completion, cached = prompt, cacheWrite = prompt } = prices
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens } = usage
  const [fromCache, intoCache] = [cachedTokens ?? 0, cacheWriteTokens ?? 0]
  const plain = Math.max(0, promptTokens - fromCache - intoCache)
  return (plain * prompt + fromCache * cached + intoCache * cacheWrite + completionTokens * completion) / 1_000_000
}

/** A count of tokens. Implausibly large ones are ignored, so that sums stay exact. */
function countIn(value: unknown): number | null {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS
    ? (value as number)
    : null
}

const MOST_TOKENS = 1_000_000_000
