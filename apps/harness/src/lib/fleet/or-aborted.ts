import { onAbort } from '@episodic/protocol/extend'

/** The same promise, or `null` once the signal aborts. A rejection after that is nobody's. */
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
