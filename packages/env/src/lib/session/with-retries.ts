import { type Channel, createRng, WireError } from '@episodic/protocol'
import { monotonic, pause, randomText } from '@episodic/protocol/internal'
import { EnvError } from '../env-error.ts'

/** The bounds of retries, and the sources of randomness and time that decide when they happen. */
export interface RetryOptions {
  /** The number of calls, the first one included. Default 20; 1 means no retry. */
  readonly attempts: number
  /** Seconds after the first lost reply in which a retry may start. Default 15. */
  readonly seconds: number
  /** Draws from [0, 1), so that the clients of a server that failed do not all retry at once. */
  readonly random: () => number
  readonly now: () => number
  /** Resolves after so many milliseconds, or rejects with the signal's reason. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

/** The longest pause before the second call; it doubles with each further one, up to {@link LONGEST_PAUSE}. */
const FIRST_PAUSE = 20
const LONGEST_PAUSE = 2_000

export function retryOptions(given: Partial<RetryOptions> = {}): RetryOptions {
  return { attempts: 20, seconds: 15, random: createRng(randomText()).float, now: monotonic, pause, ...given }
}

/**
 * Wraps a channel: a call without an answer is made again, with the same parameters.
 *
 * Use it only for idempotent calls: a step carries its `seq`, an open its request key, and closing twice is harmless.
 * A call with an answer is never retried, except after `store-unavailable`: then nothing was applied, and the server
 * recovers soon. Half of each pause is fixed and half is random, and a pause is at least as long as the server asks
 * for. A pause that would end after `seconds` is not made: the call rejects at once, with the error of the last call.
 */
export function withRetries(channel: Channel, { attempts, seconds, random, now, pause }: RetryOptions): Channel {
  return {
    async request(method, params, options) {
      let deadline: number | null = null
      for (let attempt = 1; ; attempt++) {
        try {
          return await channel.request(method, params, options)
        } catch (error) {
          if (attempt >= attempts || !mayRecover(error)) throw error
          const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1))
          const wait = Math.max(longest * (0.5 + random() / 2), askedToWait(error))
          deadline ??= now() + seconds * 1_000
          if (now() + wait > deadline) throw error
          await pause(wait, options?.signal)
        }
      }
    },
    close: () => channel.close(),
  }
}

/** Whether a retry may succeed: no answer came, or the answer says so. */
function mayRecover(error: unknown): error is EnvError | WireError {
  if (EnvError.is(error, 'connection-failed')) return error.details.retryable !== false
  return WireError.is(error, 'store-unavailable')
}

/** Returns the delay that the server asks for, in milliseconds. */
function askedToWait({ details: { retryAfterSeconds } }: EnvError | WireError): number {
  return typeof retryAfterSeconds === 'number' && retryAfterSeconds > 0 ? retryAfterSeconds * 1_000 : 0
}
