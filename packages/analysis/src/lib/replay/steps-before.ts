import { isMatchRecord, type MatchRecord, type SealedRecord, SeatViews } from '@episodic/protocol'
import { learnedFrom, viewsOf } from '@episodic/report/seats/seat-record'
import type { Origins } from './replayed-step.ts'

/** A line that has some of the first steps of an episode. */
export interface Part {
  readonly record: SealedRecord
  /** How many of its own steps. */
  readonly count: number
  /** What was read in place of the last answer. */
  readonly answer?: string | undefined
}

/** Returns the lines that have the first steps of an episode, earliest first. One that goes on from a start is whole. */
export function partsOf(record: SealedRecord, step: number, origins: Origins | undefined): Part[] {
  const { origin } = record
  const parent = origin && origins?.get(origin.seal)
  if (!parent || origin.step === 0) return [{ record, count: step - (origin?.step ?? 0) }]
  const parts = partsOf(parent, Math.min(step, origin.step), origins)
  if (step < origin.step) return parts
  const { answer } = origin
  return [...parts.slice(0, -1), { ...(parts.at(-1) as Part), answer }, { record, count: step - origin.step }]
}

/** Returns where an episode starts that goes on from another: what its player read last, and Φ there. */
export function lastBefore({ origin }: SealedRecord, origins: Origins | undefined) {
  const parent = origin && origins?.get(origin.seal)
  const { record, count = 0 } = (parent && partsOf(parent, origin.step, origins).at(-1)) ?? {}
  if (!origin || !record || isMatchRecord(record)) return null
  const { observation, potential } = (count > 0 ? record.steps[count - 1] : record.start) ?? {}
  return observation && { observation: { ...observation, text: origin.answer ?? observation.text }, potential }
}

/** Returns what the seats of a match know after so many steps, with those of the matches that it goes on from. */
export function viewsAfter(
  record: MatchRecord,
  step: number,
  origins: Origins | undefined,
  answer?: string,
): SeatViews {
  const parts = partsOf(record, step, origins)
  const steps: ReturnType<typeof learnedFrom>[] = []
  const replace = (text: string | undefined) => {
    const last = text === undefined ? undefined : steps.pop()
    if (last) steps.push(SeatViews.withAnswer(last, text as string))
  }
  for (const { record, count, answer } of parts) {
    for (const played of (record as MatchRecord).steps.slice(0, count))
      steps.push(learnedFrom(played, steps.length + 1))
    replace(answer)
  }
  replace(answer)
  const views = viewsOf(parts[0]?.record as MatchRecord, steps.length > 0 ? undefined : answer)
  for (const step of steps) views.replay(step)
  return views
}
