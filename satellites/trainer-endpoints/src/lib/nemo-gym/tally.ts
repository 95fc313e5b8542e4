import type { TrainerSessionRef } from '@episodic/mcp-server'
import type { EpisodeEnd, LoggedStep } from '@episodic/protocol'
import { rewardOf } from '../episode/play-step.ts'
import { readSteps } from '../episode/read-steps.ts'

export type Terms = Readonly<Record<string, number>>

export interface Tally {
  readonly played: number
  readonly last: LoggedStep | null
  readonly terms: Terms
  readonly reward: number
  readonly end: EpisodeEnd | null
  /** Whether the episode succeeded; `undefined` until it has ended, and if its world does not say. */
  readonly success: boolean | undefined
}

export const EMPTY: Tally = { played: 0, last: null, terms: {}, reward: 0, end: null, success: undefined }

export function withStep(before: Tally, step: LoggedStep): Tally {
  const { terms, end, success, seq } = step.report
  const sums = { terms: addTerms(before.terms, terms), reward: before.reward + rewardOf(step) }
  return { played: seq, last: step, ...sums, end, success }
}

export function addTerms(sums: Terms, terms: Terms): Terms {
  const added = Object.entries(terms).map(([name, value]) => [name, (sums[name] ?? 0) + value])
  return { ...sums, ...Object.fromEntries(added) }
}

export async function readTally(ref: TrainerSessionRef): Promise<Tally> {
  return (await readSteps(ref)).reduce(withStep, EMPTY)
}
