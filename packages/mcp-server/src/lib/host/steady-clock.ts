import type { Clock } from '@episodic/state'

/**
 * Gives a clock whose `now` is the machine's time at this moment and moves with the monotonic one from here on: a
 * machine whose time is set expires nothing early and keeps nothing longer.
 */
export function withSteadyNow(clock: Clock): Clock {
  const offset = clock.now() - clock.monotonic()
  return {
    now: () => Math.round(offset + clock.monotonic()),
    monotonic: () => clock.monotonic(),
    after: (milliseconds, run) => clock.after(milliseconds, run),
  }
}
