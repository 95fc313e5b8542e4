/** The listeners of signals, each of which has a single event listener, `abort`, for all of them. */
const listenersOf = new WeakMap<AbortSignal, ReturnType<typeof createListeners>>()

function createListeners() {
  const entries = new Set<() => void>()
  const abort = () => {
    const called = [...entries]
    entries.clear()
    for (const listener of called) listener()
  }
  return { entries, abort }
}

/**
 * Calls `listener` once the signal is aborted, unless the returned function is called before. Does nothing for a signal
 * that is aborted already. `listener` must not throw.
 *
 * `addEventListener` compares a new listener with each that is there, and if 256 calls are in flight under one signal,
 * that costs more than some of the calls. Here the listeners of a signal share one event listener, and each costs the
 * same.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) return () => {}
  const listeners = listenersOf.get(signal) ?? createListeners()
  listenersOf.set(signal, listeners)
  const { entries, abort } = listeners
  if (entries.size === 0) signal.addEventListener('abort', abort, { once: true })
  // A listener may be given twice, so each time is an entry of its own.
  const entry = () => listener()
  entries.add(entry)
  return () => {
    // A signal of `AbortSignal.any` is kept in memory while it has an event listener.
    if (entries.delete(entry) && entries.size === 0) signal.removeEventListener('abort', abort)
  }
}
