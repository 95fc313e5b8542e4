/** Milliseconds since an arbitrary start, for durations. Never jumps. */
export function monotonic(): number {
  return performance.now()
}

/** Resolves after so many milliseconds. Rejects with the signal's own reason once that is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  const abort = () => {
    clearTimeout(timer)
    reject(signal?.reason)
  }
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return promise.finally(() => signal?.removeEventListener('abort', abort))
}

/** Runs something when the work of this turn of the event loop is done. */
export const afterThisTurn: (run: () => void) => void = globalThis.setImmediate ?? ((run) => setTimeout(run, 0))

/** Runs something over and over, and gives a way to stop. Keeps no process alive. */
export function every(milliseconds: number, run: () => void): () => void {
  const timer = setInterval(run, milliseconds)
  // A page has numbers for timers, and nothing to keep alive.
  if (typeof timer === 'object') timer.unref()
  return () => clearInterval(timer)
}
