import { abortable } from '@episodic/protocol/internal'

/** Bounds the sessions that are open at once by what the server has shown that it allows. */
export interface Capacity {
  /** Resolves with a place for one session. Rejects with the signal's reason after an abort. */
  enter(signal: AbortSignal | undefined): Promise<Admission>
}

/** A place for a session, to be given back once, in one of two ways. */
export interface Admission {
  /** The session has ended. */
  leave(): void
  /** The server had no room. Returns whether other sessions are open, whose end can be waited for. */
  rejected(): boolean
}

/** Creates a capacity without a bound. Each rejection lowers it to the number of other sessions. */
export function createCapacity(): Capacity {
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
  const rejected = () => {
    const others = taken - 1
    most = Math.max(1, Math.min(most, others))
    leave()
    return others > 0
  }
  return {
    async enter(signal) {
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
