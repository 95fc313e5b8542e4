/** The listeners of one signal, which has a single event listener for all of them. */
class AbortListeners {
  readonly #signal: AbortSignal
  readonly #listeners = new Set<() => void>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  add(listener: () => void): () => void {
    if (this.#listeners.size === 0) this.#signal.addEventListener('abort', this.#abort, { once: true })
    // A listener may be given twice, so each time is an entry of its own.
    const entry = () => listener()
    this.#listeners.add(entry)
    return () => {
      // A signal of `AbortSignal.any` is kept in memory while it has an event listener.
      if (this.#listeners.delete(entry) && this.#listeners.size === 0)
        this.#signal.removeEventListener('abort', this.#abort)
    }
  }

  readonly #abort = (): void => {
    const called = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of called) listener()
  }
}

const listenersOf = new WeakMap<AbortSignal, AbortListeners>()

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
  let listeners = listenersOf.get(signal)
  if (!listeners) {
    listeners = new AbortListeners(signal)
    listenersOf.set(signal, listeners)
  }
  return listeners.add(listener)
}
