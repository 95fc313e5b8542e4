import type { TrainerSessionRef } from '@episodic/mcp-server'
import type { EpisodeEnd, LoggedStep } from '@episodic/protocol'
import { rewardOf } from '../episode/play-step.ts'

/** Reward terms by their names. */
export type Terms = Readonly<Record<string, number>>

/** What has been played in a session. */
export interface Tally {
  /** Answered steps. */
  readonly played: number
  /** The last of them; `null` before the first. */
  readonly last: LoggedStep | null
  /** The sum of each reward term. */
  readonly terms: Terms
  /** The sum of all rewards. */
  readonly reward: number
  readonly end: EpisodeEnd | null
  /** Whether the episode succeeded; `undefined` until it has ended, and if its world does not say. */
  readonly success: boolean | undefined
}

export const EMPTY: Tally = { played: 0, last: null, terms: {}, reward: 0, end: null, success: undefined }

/** Returns the tally after one more step. */
export function withStep(before: Tally, step: LoggedStep): Tally {
  const { terms, end, success, seq } = step.report
  return {
    played: seq,
    last: step,
    terms: addTerms(before.terms, terms),
    reward: before.reward + rewardOf(step),
    end,
    success,
  }
}

/** Adds two sets of reward terms. */
export function addTerms(sums: Terms, terms: Terms): Terms {
  return {
    ...sums,
    ...Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, (sums[name] ?? 0) + value])),
  }
}

/** Entries of the step log that are read at once. */
const PAGE = 1_000

/** Reads the steps of a session, the first one first. */
export async function readSteps(ref: TrainerSessionRef): Promise<LoggedStep[]> {
  const read: LoggedStep[] = []
  for (;;) {
    const after = read.at(-1)?.report.revision ?? 0
    const { steps } = await ref.watch({ after, limit: PAGE, wait: 0 })
    read.push(...steps)
    if (steps.length < PAGE) return read
  }
}

/** Reads the tally of a session that this process has not played. */
export async function readTally(ref: TrainerSessionRef): Promise<Tally> {
  return (await readSteps(ref)).reduce(withStep, EMPTY)
}
