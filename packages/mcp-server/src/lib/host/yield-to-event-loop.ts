import type { Clock } from '@episodic/state'

/** Resolves in a later turn of the event loop, after what waits there. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}

/** Milliseconds for which long work may hold the event loop before others have a turn. */
const SHARE = 5

/** Returns a function for long work to await between its pieces. It yields every {@link SHARE} ms. */
export function takingTurns(clock: Clock): () => Promise<void> {
  let began = clock.monotonic()
  return async () => {
    if (clock.monotonic() - began < SHARE) return
    await nextTurn()
    began = clock.monotonic()
  }
}
