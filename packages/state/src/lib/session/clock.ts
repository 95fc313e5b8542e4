/** Real time as an argument: expires sessions and measures, and never reaches rules, whose time is virtual. */
export interface Clock {
  /** Milliseconds since 1970, for what is kept. May jump. */
  now(): number
  /** Milliseconds since an arbitrary start, for durations. Never jumps. */
  monotonic(): number
  /** Calls `run` once, `milliseconds` from now. The returned function calls it off. Does not keep a process alive. */
  after(milliseconds: number, run: () => void): () => void
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, run) {
    const timer: { unref?: () => void } & ReturnType<typeof setTimeout> = setTimeout(run, milliseconds)
    timer.unref?.()
    return () => clearTimeout(timer)
  },
}

/**
 * Returns a clock whose `now` is the time of `clock` at this moment and moves with its monotonic one from here on: a
 * machine whose time is set expires nothing early and keeps nothing longer.
 */
export function withSteadyNow(clock: Clock): Clock {
  const offset = clock.now() - clock.monotonic()
  const monotonic = clock.monotonic.bind(clock)
  return { now: () => Math.round(offset + monotonic()), monotonic, after: clock.after.bind(clock) }
}

/** A clock that moves only when `advance` is called, so that tests do not wait. */
export interface ManualClock extends Clock {
  /** Moves both times forward and runs what falls due, in the order of its time. */
  advance(milliseconds: number): void
}

export function createManualClock(start = 0): ManualClock {
  let elapsed = 0
  let timers: { at: number; run: () => void }[] = []
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after(milliseconds, run) {
      const timer = { at: elapsed + milliseconds, run }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    advance(milliseconds) {
      const target = elapsed + milliseconds
      for (;;) {
        const due = timers.filter((timer) => timer.at <= target).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        timers = timers.filter((timer) => timer !== due)
        elapsed = due.at
        due.run()
      }
      elapsed = target
    },
  }
}
