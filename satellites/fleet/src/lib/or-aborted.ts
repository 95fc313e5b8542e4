import { onAbort } from '@episodic/protocol/internal'

/** Settles like `promise`, or resolves with `null` once the signal is aborted. The work itself goes on. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const aborted = Promise.withResolvers<null>()
  const stop = onAbort(signal, () => aborted.resolve(null))
  if (signal.aborted) aborted.resolve(null)
  try {
    return await Promise.race([aborted.promise, promise])
  } finally {
    stop()
  }
}
