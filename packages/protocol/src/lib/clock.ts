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
