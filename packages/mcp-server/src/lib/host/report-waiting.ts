import type { Clock } from '@episodic/state'
import type { CallOptions } from '../environment/call-options.ts'
import { repeat } from './session-expiry.ts'

/** Milliseconds between two reports of a call that still waits: less than any client waits without a sign of life. */
const INTERVAL = 5_000

/**
 * Reports what a call waits for, now and every 5 seconds, until the returned function is called. Does nothing for a caller
 * who did not ask for progress.
 */
export function reportWaiting(clock: Clock, waiting: CallOptions | undefined, message: string): () => void {
  const tell = waiting?.report
  if (!tell) return () => {}
  tell(message)
  return repeat(clock, INTERVAL, async () => tell(message))
}
