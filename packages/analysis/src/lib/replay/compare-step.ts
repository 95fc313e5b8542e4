import type { EnvironmentDefinition, Rehearsal } from '@episodic/mcp-server'
import type { SealedRecord } from '@episodic/protocol'
import { compareEnd } from './compare-ends.ts'
import { type Difference, findDifference } from './difference.ts'
import { compareAction, compareObservation, playRecorded, type ReplayOptions } from './replayed-step.ts'
import { type AnyStep, compareScore, playedTerms, recordedTerms } from './scoring.ts'

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
