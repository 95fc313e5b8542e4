import type { EnvironmentDefinition, Rehearsal } from '@episodic/mcp-server'
import { isMatchRecord, type Observation, type SealedRecord } from '@episodic/protocol'
import { withoutAttachedData } from '@episodic/protocol/internal'
import { mapValues } from '@episodic/run/base/map-values'
import { compareEnd } from './compare-ends.ts'
import { type Difference, findDifference } from './difference.ts'
import { compareAction, compareObservation, playRecorded, type ReplayOptions } from './replayed-step.ts'
import { type AnyStep, compareScore, playedTerms, recordedTerms } from './scoring.ts'
import { lastBefore, viewsAfter } from './steps-before.ts'

export function compareStart(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  world: Rehearsal,
  { origins }: ReplayOptions,
): Difference | null {
  const { origin, params } = record
  const shown = <Start extends { readonly observation: Observation }>(start: Start) =>
    // A line has the bytes of a picture once, and its hash everywhere.
    ({ ...start, observation: withoutAttachedData(start.observation) })
  if (!isMatchRecord(record)) {
    const start = origin ? lastBefore(record, origins) : world.start
    const { observation, potential } = start ?? {}
    return findDifference(record.start ? shown(record.start) : {}, observation ? shown({ observation, potential }) : {})
  }
  const { turn = [], seats = {} } = origin ? viewsAfter(record, origin.step, origins).goOn() : world.start
  const potentialOf = (seat: string) => environment.potential(world.state, params, seat)
  return findDifference(
    { turn: record.turn, start: mapValues(record.seats, ({ start }) => start && shown(start)) },
    { turn, start: mapValues(seats, (start, seat) => shown({ ...start, potential: potentialOf(seat) })) },
  )
}

/** Plays a step of a line again, and compares all that the rules decide. Returns the first difference. */
export function compareStep(
  environment: EnvironmentDefinition,
  world: Rehearsal,
  record: SealedRecord,
  at: number,
  options: ReplayOptions,
): Difference | null {
  const recorded = record.steps[at] as AnyStep
  const { events, played } = playRecorded(world, record, at)
  return (
    (options.declaredOnly ? compareAction(environment, record, at) : null) ??
    findDifference(recorded.events, events, 'events') ??
    compareObservation(recorded.observation, played.observation) ??
    findDifference(recordedTerms(recorded), playedTerms(recorded, played), 'terms') ??
    findDifference(recorded.potential, played.potential, 'potential') ??
    findDifference(recorded.refused, played.refused, 'refused') ??
    compareEnd(record, at, played, options) ??
    findDifference(recorded.stateHash, world.stateHashAs(recorded.stateHash), 'stateHash') ??
    (options.scoring && compareScore(record, at, played, options.scoring))
  )
}
