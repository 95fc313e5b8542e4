import { setTimeout as pause } from 'node:timers/promises'
import { monotonic } from '@episodic/protocol/internal'

export interface ModelRates {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
}

/**
 * The rate limits of language models, shared by all who ask through it: the episodes of a process, or all workers of a
 * queue. A model is named by the address of its server and its own name.
 *
 * Requests are spread evenly: one in 60 / `requestsPerMinute` seconds, and after a request of n tokens none for
 * n / `tokensPerMinute` minutes. So no minute has more requests than the limit, and at most one request's tokens more.
 * Unused time is not saved up. Who asks first is first.
 */
export interface ModelLimit {
  /**
   * Takes the next turn of a model. Resolves with the milliseconds until then, 0 for now. A turn that is not used is
   * lost.
   *
   * @param tokens - an estimate of what the request and its answer have.
   */
  reserve(model: string, rates: ModelRates, tokens: number): Promise<number>
  /** Adds the tokens by which an estimate was too low; below 0, those by which it was too high. Later turns move. */
  correct(model: string, rates: ModelRates, tokens: number): Promise<void>
  /** Gives no turn before so many milliseconds have passed. A longer pause stays as it is. */
  pause(model: string, milliseconds: number): Promise<void>
  /**
   * Resolves with the milliseconds until the end of a pause; 0 if there is none. Turns that were given before move too.
   */
  pausedFor(model: string): Promise<number>
}

interface Turns {
  requests: number
  tokens: number
  paused: number
}

export const MINUTE = 60_000

/**
 * Creates the limit of one process.
 *
 * @param now - milliseconds. Default: the monotonic clock of the process.
 */
export function createModelLimit(now: () => number = monotonic): ModelLimit {
  const models = new Map<string, Turns>()
  const turnsOf = (model: string): Turns => {
    const turns = models.get(model) ?? { requests: 0, tokens: 0, paused: 0 }
    models.set(model, turns)
    return turns
  }
  return {
    async reserve(model, { requestsPerMinute, tokensPerMinute }, tokens) {
      const turns = turnsOf(model)
      const turn = Math.max(
        now(),
        turns.paused,
        requestsPerMinute === null ? 0 : turns.requests,
        tokensPerMinute === null ? 0 : turns.tokens,
      )
      if (requestsPerMinute !== null) turns.requests = turn + MINUTE / requestsPerMinute
      if (tokensPerMinute !== null) turns.tokens = turn + (tokens * MINUTE) / tokensPerMinute
      return turn - now()
    },
    async correct(model, { tokensPerMinute }, tokens) {
      if (tokensPerMinute !== null) turnsOf(model).tokens += (tokens * MINUTE) / tokensPerMinute
    },
    async pause(model, milliseconds) {
      const turns = turnsOf(model)
      turns.paused = Math.max(turns.paused, now() + milliseconds)
    },
    async pausedFor(model) {
      return Math.max(0, turnsOf(model).paused - now())
    },
  }
}

/**
 * Resolves when a request may be sent. After an abort: rejects with the signal's reason.
 *
 * @param tokens - an estimate of what the request and its answer have.
 */
export async function untilTurn(
  limit: ModelLimit,
  model: string,
  rates: ModelRates,
  tokens: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const wait = await limit.reserve(model, rates, tokens)
    if (wait <= 0) return
    // A timer may fire up to a millisecond early.
    await pause(Math.ceil(wait) + 1, null, { signal }).catch(() => signal?.throwIfAborted())
    // A pause that began while this request waited: it takes a new turn after it.
    if ((await limit.pausedFor(model)) <= 0) return
    await limit.correct(model, rates, -tokens)
  }
}
