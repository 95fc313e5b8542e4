import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { monotonic } from '@episodic/protocol/internal'
import type { Finding } from './finding.ts'
import { withPreparations } from './prepared-tools.ts'

/** Milliseconds of the longest timer. */
const LONGEST = 2 ** 31 - 1

export class TimeLimit {
  readonly #seconds: number
  readonly #begun = monotonic()
  readonly #missed: string[] = []
  /** Aborted once the time is over; left out where there is no limit. */
  readonly signal: AbortSignal | undefined
  /** Whether a step was called off: what was played then is not whole, and says nothing. */
  hasCut = false
  /** Warnings of what else has cut it short. */
  readonly notes: Finding[] = []

  constructor(seconds = Number.POSITIVE_INFINITY) {
    this.#seconds = Math.max(0, seconds)
    if (Number.isFinite(seconds)) this.signal = AbortSignal.timeout(Math.min(Math.ceil(this.#seconds * 1_000), LONGEST))
  }

  /** Whether a share of the time is over. Default: all of it. */
  isOver(share = 1): boolean {
    return this.hasCut || monotonic() - this.#begun >= share * this.#seconds * 1_000
  }

  /** Returns the share of the time after which the first of so many equal parts of what is left is over. */
  partOf(parts: number): number {
    const gone = (monotonic() - this.#begun) / (this.#seconds * 1_000)
    return gone + (1 - gone) / parts
  }

  /** Notes that fewer of something were played than planned. */
  miss(done: number, planned: number, what: string): void {
    if (done < planned) this.#missed.push(`${done} of ${planned} ${what}`)
  }

  /** Its notes, and a warning that says what was played, if something was left out. */
  warnings(seed: string): Finding[] {
    if (this.#missed.length === 0) return this.notes
    const seconds = Number(this.#seconds.toFixed(1))
    return [
      ...this.notes,
      {
        name: 'time-over',
        what: `Its ${seconds} s were over after ${this.#missed.join(', ')}.`,
        again: `check seed ${seed}`,
        advice: 'Run it alone, with --only: it has all the time then. Exploits are given more by --search 10m.',
      },
    ]
  }
}

interface Counting {
  readonly time: TimeLimit
  readonly signal: AbortSignal | undefined
  readonly onProgress: (done: number, total: number) => void
}

/**
 * Counts episodes from 0, no further once a share of the time is over, but at least one; `what` they are says what was
 * missed. Throws the reason of the signal once that is aborted.
 */
export function* countedIn(
  { time, signal, onProgress }: Counting,
  planned: number,
  what = 'episodes',
  share = 1,
): Generator<number> {
  let done = 0
  try {
    for (; done < planned && (done === 0 || !time.isOver(share)); done++) {
      signal?.throwIfAborted()
      onProgress(done, planned)
      yield done
    }
  } finally {
    time.miss(done, planned, what)
  }
}

/** A spread copy would read what somebody may watch. */
function withSignal<Context extends object>(context: Context, signal: AbortSignal): Context {
  return new Proxy(context, { get: (target, key) => (key === 'signal' ? signal : Reflect.get(target, key)) })
}

/** Returns an environment whose programs are called off once the time is over. */
export function withTimeLimit(environment: EnvironmentDefinition, time: TimeLimit): EnvironmentDefinition {
  const { signal: over } = time
  if (!over) return environment
  return withPreparations(environment, (preparation) => ({
    ...preparation,
    async prepare(context) {
      const signal = AbortSignal.any([context.signal, over])
      const cut = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
      try {
        signal.throwIfAborted()
        return await Promise.race([preparation.prepare(withSignal(context, signal)), cut])
      } catch (error) {
        time.hasCut ||= over.aborted
        throw error
      }
    },
  }))
}
