/** A number of actions in a window of time. */
export interface Rate {
  readonly times: number
  readonly seconds: number
}

/** Counts the actions of each key, and drops the count when its window is over. */
export interface RateLimit {
  /** Counts one action. Returns how many are `left`, or the seconds to wait (`retryAfter`) if the limit is reached. */
  take(key: string): { readonly left: number } | { readonly retryAfter: number }
}

export function createRateLimit({ times, seconds }: Rate, now: () => number): RateLimit {
  const windows = new Map<string, { endsAt: number; used: number }>()
  return {
    take(key) {
      for (const [old, { endsAt }] of windows) if (endsAt <= now()) windows.delete(old)
      const window = windows.get(key) ?? { endsAt: now() + seconds * 1_000, used: 0 }
      windows.set(key, window)
      if (window.used >= times) return { retryAfter: Math.ceil((window.endsAt - now()) / 1_000) }
      window.used += 1
      return { left: times - window.used }
    },
  }
}
