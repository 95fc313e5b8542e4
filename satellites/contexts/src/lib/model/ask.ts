import { type Clock, systemClock } from '@episodic/state'

export interface AskOptions {
  /** Default 10,000. */
  readonly milliseconds?: number
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

/**
 * Calls `ask` with a time limit. Resolves with `late(milliseconds)` if it takes longer, and aborts the signal that
 * `ask` received. Rejects with what `ask` rejects with, and with the reason of the caller's signal.
 */
export async function askWithin<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  late: (milliseconds: number) => T,
  { milliseconds = 10_000, signal, clock = systemClock }: AskOptions,
): Promise<T> {
  signal?.throwIfAborted()
  const limit = new AbortController()
  const { promise: ended, resolve, reject } = Promise.withResolvers<T>()
  const stopTimer = clock.after(milliseconds, () => {
    limit.abort(new DOMException(`There was no answer after ${milliseconds} ms.`, 'TimeoutError'))
    resolve(late(milliseconds))
  })
  const onAbort = (): void => {
    limit.abort(signal?.reason)
    reject(signal?.reason)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([ask(limit.signal), ended])
  } finally {
    stopTimer()
    signal?.removeEventListener('abort', onAbort)
  }
}
