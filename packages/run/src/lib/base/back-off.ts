import { setTimeout as pause } from 'node:timers/promises'

const LONGEST = 5_000

/**
 * Waits before a process that failed to start is started again: longer after each failure, and not at all after none.
 */
export async function backOff(failures: number, signal: AbortSignal): Promise<void> {
  if (failures > 0) await pause(Math.min(LONGEST, 50 * 2 ** failures), null, { signal }).catch(() => {})
}
