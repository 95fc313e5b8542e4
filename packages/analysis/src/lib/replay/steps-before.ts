import type { EpisodeRecord, MatchRecord, SealedRecord, SeatViews } from '@episodic/protocol'
import { learnedFrom, viewsOf } from '@episodic/report/seats/seat-record'
import type { Origins } from './replayed-step.ts'

/** A line that has some of the first steps of an episode. */
export interface Part<Line extends SealedRecord> {
  readonly record: Line
  readonly count: number
  /** What was read in place of the answer of the last of them. */
  readonly answer?: string | undefined
}

/** How many steps an episode has, with those of the episodes that it goes on from. */
export function stepsOf({ origin, steps }: SealedRecord): number {
  return (origin?.step ?? 0) + steps.length
}

/** Returns the lines that have the first steps of an episode, with those of the episodes that it goes on from. */
export function partsOf<Line extends SealedRecord>(record: Line, step: number, origins: Origins | undefined) {
  const { origin } = record
  const parent = origin && (origins?.get(origin.seal) as Line | undefined)
  if (!parent) return [{ record, count: step }]
  const parts: Part<Line>[] = partsOf(parent, Math.min(step, origin.step), origins)
  if (step < origin.step) return parts
  const last = parts.pop() as Part<Line>
  return [...parts, { ...last, answer: origin.answer ?? last.answer }, { record, count: step - origin.step }]
}

/** The same for who goes on there: a line that goes on from a start is whole. */
export function wholeParts<Line extends SealedRecord>(record: Line, step: number, origins: Origins): Part<Line>[] {
  const parts: Part<Line>[] = partsOf(record, step, origins)
  return parts.slice(parts.findIndex(({ count }) => count > 0))
}

/** Returns where an episode starts that goes on from another: what its player read last, and Φ there. */
export function lastBefore(record: EpisodeRecord, origins: Origins | undefined) {
  const parts = partsOf(record, record.origin?.step ?? 0, origins)
  const at = Math.max(
    0,
    parts.findLastIndex(({ count }) => count > 0),
  )
  const { record: line, count } = parts[at] as Part<EpisodeRecord>
  const { observation, potential } = (count > 0 ? line.steps[count - 1] : line.start) ?? {}
  const answer = parts.slice(at).findLast(({ answer }) => answer !== undefined)?.answer
  return observation && { observation: { ...observation, text: answer ?? observation.text }, potential }
}

/** Returns what the seats of a match know after so many steps, with those of the matches that it goes on from. */
export function viewsAfter(record: MatchRecord, step: number, origins: Origins | undefined): SeatViews {
  const parts: Part<MatchRecord>[] = partsOf(record, step, origins)
  const views = viewsOf((parts[0] as Part<MatchRecord>).record)
  let revision = 0
  for (const { record, count, answer } of parts) {
    for (const step of record.steps.slice(0, count)) views.replay(learnedFrom(step, ++revision))
    if (answer !== undefined) views.answer(answer)
  }
  return views
}
