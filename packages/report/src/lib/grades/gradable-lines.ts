import { isMatchRecord, type SealedRecord } from '@episodic/protocol'
import { comparePreference, drawOf, identityOf, type SealedLine } from '../fold/episode-identity.ts'
import { isSuccess, scoredOutcomeOf } from '../fold/scored-outcome.ts'
import { seatRecordOf } from '../seats/seat-record.ts'

/** A sealed line, as far as its grades depend on it. */
export interface GradableLine {
  readonly task: string
  readonly attempt: number
  readonly try: number
  /** Whose play it is; `null` for an environment of one seat. */
  readonly seat: string | null
  /** Names the line, see {@link sealNameOf}. */
  readonly seal: string
  /** Whether it counts for its episode, as in a report, and finished: only such lines are graded. */
  readonly counts: boolean
  /** By the rule of the world or the default one. */
  readonly success: boolean
  /** A pseudo-random rank: the first n in this order are a random sample of n that anyone can draw again. */
  readonly draw: number
}

/** The name of a line in its verdicts: its seal, or its chain if it has none. */
export function sealNameOf({ seal, chain }: Pick<SealedRecord, 'seal' | 'chain'>): string {
  return seal ?? chain
}

/**
 * Creates an empty collection of the lines of a run, which keeps some 300 bytes of each line.
 *
 * @param seat - whose play is graded, if the environment has several. Default: the first.
 */
export function createGradableLines(seat?: string) {
  const lines = new Map<string, GradableLine & SealedLine>()
  return {
    add(line: SealedRecord): string {
      const name = sealNameOf(line)
      if (lines.has(name)) return name
      const record = seatRecordOf(line, seat)
      const { task, attempt } = record
      const failed = scoredOutcomeOf(record).kind === 'failed'
      lines.set(name, {
        task: task.id,
        attempt,
        try: record.try,
        seat: isMatchRecord(line) ? (seat ?? Object.keys(line.seats)[0] ?? null) : null,
        seal: name,
        counts: false,
        success: isSuccess(record),
        draw: drawOf(record),
        identity: identityOf(record),
        failed,
      })
      return name
    },
    /** All different lines, in the order of their draw, and of one episode the one that counts first. */
    list(): GradableLine[] {
      const sorted = [...lines.values()].sort(
        (a, b) => a.draw - b.draw || compareText(a.task, b.task) || a.attempt - b.attempt || comparePreference(a, b),
      )
      return sorted.map(({ identity: _, failed, ...line }, i) => {
        const before = sorted[i - 1]
        const isFirst = before?.task !== line.task || before.attempt !== line.attempt
        return { ...line, counts: isFirst && !failed }
      })
    },
  }
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
