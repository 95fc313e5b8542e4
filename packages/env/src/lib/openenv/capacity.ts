import { abortable } from '@episodic/protocol/internal'

/** Bounds the sessions that are open at once by what the server has shown that it allows. */
export type Capacity = ReturnType<typeof createCapacity>

/** Creates a capacity without a bound. Each rejection lowers it to the number of other sessions. */
export function createCapacity() {
  let most = Number.POSITIVE_INFINITY
  let taken = 0
  const waiting = new Set<() => void>()
  const admit = () => {
    for (const enter of waiting) {
      if (taken >= most) return
      waiting.delete(enter)
      taken += 1
      enter()
    }
  }
  const leave = () => {
    taken -= 1
    admit()
  }
  /** The server had no room. Returns whether other sessions are open, whose end can be waited for. */
  const rejected = () => {
    const others = taken - 1
    most = Math.max(1, Math.min(most, others))
    leave()
    return others > 0
  }
  return {
    /**
     * Resolves with a place for one session, to be given back once, in one of two ways. Rejects with the signal's
     * reason after an abort.
     */
    async enter(signal: AbortSignal | undefined) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      admit()
      try {
        await abortable(promise, signal)
      } catch (error) {
        if (!waiting.delete(resolve)) leave()
        throw error
      }
      return { leave, rejected }
    },
  }
}
