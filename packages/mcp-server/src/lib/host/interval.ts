import type { Clock } from '@episodic/state'

/**
 * Does some work over and over, each time so many milliseconds after the last was done or failed. Gives a function that
 * stops it; what has begun goes on to its end.
 */
export function repeat(clock: Clock, milliseconds: number, work: () => Promise<unknown>): () => void {
  let stopped = false
  let callOff = () => {}
  const next = () => {
    if (!stopped) callOff = clock.after(milliseconds, () => void work().then(next, next))
  }
  next()
  return () => {
    stopped = true
    callOff()
  }
}
