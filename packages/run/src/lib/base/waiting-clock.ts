import { setTimeout } from 'node:timers/promises'

export interface WaitingClock {
  /** Monotonic milliseconds. */
  now(): number
  /** Resolves after so many milliseconds, or once the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export const machineClock: WaitingClock = {
  now: () => performance.now(),
  wait: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }).catch(() => {}),
}
