import type { Anchors } from './suite-plan.ts'
import type { LineResult } from './suite-result.ts'
import type { VerifiedSubmission } from './verify-submission.ts'

type Scored = Extract<LineResult, { kind: 'scored' }>

/** One policy in one variant of a world. */
export interface LeaderboardEntry extends Pick<Scored, 'policy' | 'here' | 'score' | 'finished' | 'failed'> {
  readonly folder: string
}

/** The policies that played one variant of a world, or one seat of a game. */
export interface LeaderboardTable {
  readonly world: string
  /** The variant and the seat; empty if the world has one of each. */
  readonly variant: string
  readonly anchors: Anchors
  /** Highest mean first; those with failed episodes after all others, because their means are over other tasks. */
  readonly entries: readonly LeaderboardEntry[]
}

export type Leaderboard = ReturnType<typeof leaderboardOf>

/**
 * Makes a leaderboard of the verified submissions of one suite; there has to be at least one. There is no average over
 * worlds, so there is one table for each variant.
 */
export function leaderboardOf(submissions: readonly [VerifiedSubmission, ...VerifiedSubmission[]]) {
  const sound = submissions.filter(({ findings }) => findings.length === 0)
  const [{ result: first }] = sound.length > 0 ? (sound as [VerifiedSubmission]) : submissions
  const tables = new Map<string, { world: string; variant: string; anchors: Anchors; entries: LeaderboardEntry[] }>()
  for (const { folder, result } of sound)
    for (const { environment, lines } of result.worlds)
      for (const line of lines) {
        if (line.kind !== 'scored') continue
        const { policy, here, score, finished, failed, anchors } = line
        const variant = variantOf(line)
        const key = `${environment.name} ${variant}`
        const table = tables.get(key) ?? { world: environment.name, variant, anchors, entries: [] }
        tables.set(key, table)
        table.entries.push({ policy, here, score, finished, failed, folder })
      }
  return {
    suite: first.suite,
    tables: [...tables.values()].map(
      (table): LeaderboardTable => ({ ...table, entries: table.entries.toSorted(byMean) }),
    ),
    /** Submissions that do not hold. They are in no table. */
    rejected: submissions
      .filter(({ findings }) => findings.length > 0)
      .map(({ folder, findings }) => ({ folder, findings })),
  }
}

function variantOf({ id, focus }: Scored): string {
  const variant = id.split('/').slice(0, -1).join('/')
  return [...(variant === '' ? [] : [variant]), ...(focus === null ? [] : [`as ${focus}`])].join(', ')
}

function byMean(a: LeaderboardEntry, b: LeaderboardEntry): number {
  if (a.failed > 0 !== b.failed > 0) return a.failed > 0 ? 1 : -1
  return (b.here?.mean ?? Number.NEGATIVE_INFINITY) - (a.here?.mean ?? Number.NEGATIVE_INFINITY)
}
