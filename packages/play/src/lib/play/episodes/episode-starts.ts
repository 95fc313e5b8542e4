import type { WaitingClock } from '@episodic/run/base/waiting-clock'

/** So many episodes have to wait for something before all others start without a pause. */
const MOST_WAITS = 8
/** Milliseconds of playing after which other events of this process are handled. */
const LONGEST_TURN = 10

/**
 * Returns what resolves when the next episode of this process may start: after the `played` one, unless it or others of
 * the process had to wait. So episodes that never wait are played one after the other.
 *
 * A world in this process answers without input or output: hundreds of episodes that start together take turns at every
 * promise, and each finds its memory out of the processor's caches. Episodes of a remote world wait for their answers,
 * and start together, so that their requests share messages.
 */
export function orderStarts(clock: Pick<WaitingClock, 'now'>): (played: Promise<void>) => Promise<void> {
  let waits = 0
  let turned = clock.now()
  return async (played) => {
    if (waits >= MOST_WAITS) return
    const next = Promise.withResolvers<void>()
    const idle = setImmediate(() => {
      waits += 1
      next.resolve()
    })
    void played.then(() => {
      clearImmediate(idle)
      next.resolve()
    })
    await next.promise
    if (clock.now() - turned < LONGEST_TURN) return
    await new Promise((resolve) => setImmediate(resolve))
    turned = clock.now()
  }
}
