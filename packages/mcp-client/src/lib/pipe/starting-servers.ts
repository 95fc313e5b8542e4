/**
 * Servers that may start at once, for all channels of this process. Each takes seconds of one core to load its code,
 * and many at once would all be late.
 */
const MOST = Math.max(2, globalThis.navigator.hardwareConcurrency)

let starting = 0
const waiting: (() => void)[] = []

/** Starts a server once fewer than the bound are starting. Rejects with the signal's reason if it aborts before. */
export async function startInTurn<T>(start: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (starting >= MOST) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const abort = () => {
      const place = waiting.indexOf(resolve)
      // It may have its turn already.
      if (place !== -1) waiting.splice(place, 1)
      reject(signal?.reason)
    }
    waiting.push(resolve)
    signal?.addEventListener('abort', abort, { once: true })
    await promise.finally(() => signal?.removeEventListener('abort', abort))
  } else starting += 1
  try {
    return await start()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else starting -= 1
  }
}
