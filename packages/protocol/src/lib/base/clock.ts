import { onAbort } from './on-abort.ts'

/** Returns milliseconds since an arbitrary start, for durations. Never jumps. */
export function monotonic(): number {
  return performance.now()
}

/** Resolves after `milliseconds`. Rejects with the signal's reason once the signal is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  return abortable(promise, signal).finally(() => clearTimeout(timer))
}

/** Settles like `promise`, or rejects with the signal's reason once the signal is aborted. The work itself goes on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    const stop = onAbort(signal, abort)
    promise.finally(stop).then(resolve, reject)
  })
}

/** Calls `run` every `milliseconds` and returns a function that stops it. Keeps no process alive. */
export function every(milliseconds: number, run: () => void): () => void {
  const timer = setInterval(run, milliseconds)
  // In a browser a timer is a number, and there is no process to keep alive.
  if (typeof timer === 'object') timer.unref()
  return () => clearInterval(timer)
}

export const afterThisTurn: (run: () => void) => void = globalThis.setImmediate ?? ((run) => setTimeout(run, 0))
