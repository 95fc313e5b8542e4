import type { Clock } from '@episodic/state'

/** How long something outside may take to answer. */
export interface AskLimits {
  readonly milliseconds: number
  readonly signal?: AbortSignal | undefined
  readonly clock: Clock
}

/**
 * Asks something outside, for at most so long. Resolves with `late()` where it takes longer, and aborts the signal that `ask` was
 * given. Rejects with what `ask` rejects with, and with the reason of the caller's signal.
 */
export async function askWithin<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  late: () => T,
  { milliseconds, signal, clock }: AskLimits,
): Promise<T> {
  signal?.throwIfAborted()
  const limit = new AbortController()
  const { promise: ended, resolve, reject } = Promise.withResolvers<T>()
  const callOff = clock.after(milliseconds, () => {
    limit.abort(new DOMException(`There was no answer after ${milliseconds} ms.`, 'TimeoutError'))
    resolve(late())
  })
  const onAbort = (): void => {
    limit.abort(signal?.reason)
    reject(signal?.reason)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([ask(limit.signal), ended])
  } finally {
    callOff()
    signal?.removeEventListener('abort', onAbort)
  }
}
