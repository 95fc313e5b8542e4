/** Runs something when the work of this turn of the event loop is done. */
export const afterThisTurn: (run: () => void) => void = globalThis.setImmediate ?? ((run) => setTimeout(run, 0))

/** Runs something over and over, and gives a way to stop. Keeps no process alive. */
export function every(milliseconds: number, run: () => void): () => void {
  const timer = setInterval(run, milliseconds)
  // A page has numbers for timers, and nothing to keep alive.
  if (typeof timer === 'object') timer.unref()
  return () => clearInterval(timer)
}
