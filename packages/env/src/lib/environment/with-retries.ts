import { type Channel, createRng, WireError } from '@episodic/protocol'
import { monotonic, pause, randomText } from '@episodic/protocol/extend'
import { EnvError } from '../env-error.ts'

/** How long a call that got no answer is made again, and the chance and time that decide when. */
export interface RetryOptions {
  /** Calls in all, the first one included. Default 20; 1 never asks again. */
  readonly attempts: number
  /** Seconds from the first lost reply in which another call may begin. Default 15. */
  readonly seconds: number
  /** Draws from [0, 1), so that many who lost the same server do not come back at once. */
  readonly random: () => number
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Resolves after so many milliseconds, or rejects with the signal's reason. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

/** The longest pause before the second call; it doubles with each further one, up to {@link LONGEST_PAUSE}. */
const FIRST_PAUSE = 20
const LONGEST_PAUSE = 2_000

/** Fills in what a caller leaves to us. */
export function retryOptions(given: Partial<RetryOptions> = {}): RetryOptions {
  return { attempts: 20, seconds: 15, random: createRng(randomText()).float, now: monotonic, pause, ...given }
}

/**
 * Makes a channel ask again where no answer came, with the same bytes.
 *
 * For calls alone that the server settles: a step carries its `seq`, an open its request key, and a session that is
 * closed stays closed. An answer is never asked for again, whatever it says, unless it says that nothing was applied
 * and that the server is about to be back (`store-unavailable`). Pauses are half fixed and half drawn; where the server says how
 * long to wait, at least that long. What would have to wait past `seconds` rejects at once, with what the last call
 * rejected with.
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

/** Whether the same call may get an answer later: none came, or one that says so. */
function mayRecover(error: unknown): error is EnvError | WireError {
  if (EnvError.is(error, 'connection-failed')) return error.details.retryable !== false
  return WireError.is(error, 'store-unavailable')
}

/** Milliseconds that the server wants to be left alone. */
function askedToWait({ details: { retryAfterSeconds } }: EnvError | WireError): number {
  return typeof retryAfterSeconds === 'number' && retryAfterSeconds > 0 ? retryAfterSeconds * 1_000 : 0
}
