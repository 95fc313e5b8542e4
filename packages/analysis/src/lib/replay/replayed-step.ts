import type { EnvironmentDefinition, Rehearsal } from '@episodic/mcp-server'
import { absenceOf, declaredAction } from '@episodic/mcp-server/internal'
import { isAction, readCall } from '@episodic/models/messages/read-tool-call'
import {
  isMatchRecord,
  type LimitsRequest,
  type MatchRecord,
  type Observation,
  playedCalls,
  type RecordedStep,
  type SealedRecord,
  type Truncation,
} from '@episodic/protocol'
import { truncationOf, withoutAttachedData, withoutDataLines } from '@episodic/protocol/internal'
import { isLlm } from '@episodic/run/base/player-names'
import { REDACTED } from '@episodic/run/folder/record/recording'
import type { SessionState } from '@episodic/state'
import { type Difference, findDifference } from './difference.ts'
import type { AnyStep, Scoring } from './scoring.ts'

export interface ReplayedStep {
  /** From 1; 0 is the start. `null` is the episode as a whole, yielded only if it differs. */
  readonly step: number | null
  readonly state: SessionState | null
  /** Its first difference from the line. Of the field `rules`: they threw an error, whose message is `replayed`. */
  readonly difference: Difference | null
}

/** The lines that the episodes of a run go on from, by their seals. */
export type Origins = ReadonlyMap<string, SealedRecord>

export interface ReplayOptions {
  /** Makes rules fail that use the machine's randomness or clock, see `rehearse`. */
  readonly strict: boolean
  readonly scoring: Scoring | null
  readonly limits?: LimitsRequest | undefined
  /** Whether the player may leave before the end, as agents may. Default: `false`. */
  readonly mayLeave?: boolean | undefined
  /** Whether actions have only declared arguments, as runs record them. Default: unknown, and not compared. */
  readonly declaredOnly?: boolean | undefined
  /** The lines that the episode goes on from. Default: none; an episode that goes on from one is not replayable. */
  readonly origins?: Origins | undefined
}

/**
 * Undeclared arguments do not affect the replay, so compare the action itself. A language model of the harness also
 * played the call that its answer has as played.
 */
export function compareAction(environment: EnvironmentDefinition, record: SealedRecord, at: number): Difference | null {
  const step = record.steps[at] as AnyStep
  const { action } = step
  // No player can name the action of a step that the server took for a seat.
  if (absenceOf(action, environment)) return null
  const difference = findDifference(action, declaredAction(environment, action), 'action')
  const made = callsOf(record)[at]
  if (difference || !made || !isLlm(playerOf(record, step))) return difference
  const { call, answer } = made
  // What was cut or taken out of a line is not known.
  const isWhole = !answer.cut && !call.arguments.includes(REDACTED)
  const given = isWhole ? readCall(call, true) : { tool: call.name, arguments: action.arguments }
  return findDifference(action, isAction(given) ? declaredAction(environment, given) : given, 'action')
}

const callsOfRecords = new WeakMap<SealedRecord, ReturnType<typeof playedCalls>>()

/** The calls of models that the steps of a line played, found once for all of its steps. */
function callsOf(record: SealedRecord) {
  const known = callsOfRecords.get(record) ?? playedCalls(record.steps)
  callsOfRecords.set(record, known)
  return known
}

function playerOf(record: SealedRecord, step: AnyStep): string {
  if (!isMatchRecord(record)) return record.policy.name
  return ('seat' in step && record.seats[step.seat]?.policy.name) || ''
}

/**
 * Compares what a step showed. Lines that were sealed by earlier releases have other fields of the data as JSON below
 * their text, or none: those that it did not say, before a tool said whether its data follows.
 */
export function compareObservation(line: Observation, answer: Observation): Difference | null {
  // A line has the bytes of a picture once, and its hash in every step.
  const [recorded, played] = [withoutAttachedData(line), withoutAttachedData(answer)]
  const difference = findDifference(recorded, played, 'observation')
  if (!difference) return null
  const own = (shown: Observation) => ({ ...shown, text: withoutDataLines(shown.text, played.structured) })
  return findDifference(own(recorded), own(played), 'observation') && difference
}

/**
 * Replays a step of a record, after its external events and, at a fork, with the new randomness of the environment.
 * Returns the external events before the step, with their results now (`undefined` if there were none), and the step.
 */
export function playRecorded(world: Rehearsal, record: SealedRecord, at: number) {
  const step = record.steps[at] as AnyStep
  const { action, events, prepared } = step
  const publish = (happened: NonNullable<RecordedStep['events']>) =>
    happened.map((event) => ({ ...event, ...world.publish(event.type, event.data) }))
  const inherited = publish(events?.filter((event) => event.inherited) ?? [])
  const branch = isMatchRecord(record) ? null : record.branch
  const fresh = branch?.seeds[branch.at.indexOf(at)] ?? null
  if (fresh !== null) world.reseed(fresh)
  const own = publish(events?.filter((event) => !event.inherited) ?? [])
  const played = world.play(action.tool, action.arguments, {
    truncation: truncationAt(record, at),
    prepared,
    ...('seat' in step && { seat: step.seat }),
  })
  return { events: events && [...inherited, ...own], played }
}

export function truncationAt(record: SealedRecord, at: number): Truncation | null {
  if (isMatchRecord(record)) {
    const { seats, action } = record.steps[at] as MatchRecord['steps'][number]
    const end = Object.values(seats.ends ?? {}).find(({ kind }) => kind === 'truncated') ?? null
    return absenceOf(action) ? null : truncationOf(end)
  }
  const { steps, outcome } = record
  if (at < steps.length - 1 || outcome.kind === 'failed') return null
  const reason = truncationOf(outcome.end)
  return reason === 'closed' ? null : reason
}
