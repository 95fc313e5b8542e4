import { HarnessError } from './harness-error.ts'

export class LimitReached extends HarnessError {
  readonly #option: string
  readonly #limit: number

  constructor(option: string, limit: number, why: string) {
    super('limit-reached', `The run stopped at a limit: ${why}. Nothing is lost: raise the limit, and resume the run.`)
    this.#option = option
    this.#limit = limit
  }

  /** Returns the option with a limit that is likely to be enough for all episodes, and at least twice as high. */
  raised({ sealed, scheduled, concurrency }: Progress): string[] {
    // Those in flight are in their middle, on average.
    const played = sealed + Math.min(concurrency, scheduled - sealed) / 2
    const needed = this.#limit * Math.max(2, (RESERVE * scheduled) / played)
    const unit = 10 ** (Math.floor(Math.log10(needed)) - 1)
    return [this.#option, String(Number((Math.ceil(needed / unit) * unit).toPrecision(2)))]
  }
}

type Progress = Readonly<Record<'sealed' | 'scheduled' | 'concurrency', number>>

/** Episodes differ in what they take. */
const RESERVE = 1.5

/** Returns the option that raises the limit which stopped a run; empty if none did, or one that begins anew. */
export function raisedLimit(stopped: unknown, progress: Progress): string[] {
  return stopped instanceof LimitReached ? stopped.raised(progress) : []
}
