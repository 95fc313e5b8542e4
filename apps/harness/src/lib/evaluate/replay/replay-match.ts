import { type EnvironmentDefinition, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import { absenceOf } from '@episodic/mcp-server/extend'
import type { MatchRecord, RecordedSeatStep, SeatsReport, Truncation } from '@episodic/protocol'
import { stopReasonOf, truncationOf } from '@episodic/protocol/extend'
import { returnsOfSeat, weighed } from '../../play/record/seal-match.ts'
import { type Difference, findDifference } from './difference.ts'
import { mostSteps } from './recorded-plan.ts'
import {
  compareAction,
  compareObservation,
  playRecorded,
  type ReplayedStep,
  type ReplayOptions,
} from './replayed-step.ts'
import type { Scoring } from './scoring.ts'

/** Replays a recorded match and yields its start and each step, up to the first difference. */
export function* replayMatch(
  environment: EnvironmentDefinition,
  record: MatchRecord,
  options: ReplayOptions,
): Generator<ReplayedStep, void, undefined> {
  const { strict, scoring, declaredOnly } = options
  const { params, seed, steps } = record
  let step = 0
  try {
    const world = rehearse(environment, { params, seed, strict })
    const difference = compareStart(record, world.start)
    yield { step, state: world.state, parting: difference && { ...difference, step, failure: null } }
    if (difference) return
    for (const recorded of steps) {
      step += 1
      const { seat } = recorded
      const { events, played } = playRecorded(world, recorded, {
        fresh: null,
        truncation: truncationOfTurn(recorded),
        seat,
      })
      const difference =
        // No player can name the action of a step that the server took.
        (declaredOnly && !absenceOf(recorded.action)
          ? compareAction(environment, recorded, record.seats[seat]?.policy.name)
          : null) ??
        findDifference(recorded.events, events, 'events') ??
        compareStep(recorded, played, scoring)
      yield { step, state: world.state, parting: difference && { ...difference, step, failure: null } }
      if (difference) return
    }
    const whole = compareWhole(environment, record, world.end, options)
    if (whole) yield { step: null, state: world.state, parting: { ...whole, step: null, failure: null } }
  } catch (error) {
    const failure = (error as Error).message
    yield { step, state: null, parting: { step, field: 'rules', recorded: 'an answer', replayed: failure, failure } }
  }
}

function compareStart({ turn, seats }: MatchRecord, start: ReturnType<typeof rehearse>['start']): Difference | null {
  const recorded = Object.fromEntries(Object.entries(seats).map(([name, { start }]) => [name, start]))
  return findDifference(turn, start.turn ?? [], 'turn') ?? findDifference(recorded, start.seats, 'start')
}

/** Returns the limit that cut the match short in this step. */
export function truncationOfTurn({ seats: { ends = {} }, action }: RecordedSeatStep): Truncation | null {
  const end = Object.values(ends).find(({ kind }) => kind === 'truncated') ?? null
  return absenceOf(action) ? null : truncationOf(end)
}

function compareStep(recorded: RecordedSeatStep, played: RehearsedStep, scoring: Scoring | null): Difference | null {
  const { terms: others = {}, ...learned } = (played.seats ?? { turn: [], views: {} }) as SeatsReport
  const terms = { [recorded.seat]: played.terms, ...others }
  const rewards = Object.fromEntries(
    Object.entries(terms).map(([seat, own]) => [seat, scoring ? weighed(own, scoring.weights) : { terms: own }]),
  )
  const scored = scoring
    ? recorded.rewards
    : Object.fromEntries(Object.entries(recorded.rewards).map(([seat, { terms }]) => [seat, { terms }]))
  return (
    compareObservation(recorded.observation, played.observation) ??
    findDifference(scored, rewards, 'rewards') ??
    findDifference(recorded.potential, played.potential, 'potential') ??
    findDifference(recorded.refused, played.refused, 'refused') ??
    findDifference(recorded.seats, learned, 'seats') ??
    findDifference(recorded.stateHash, played.stateHash, 'stateHash')
  )
}

/**
 * Returns how a match is over for each seat if the player of one cut it off, unless its rules had ended it for a seat
 * before.
 */
function cutEnds(seats: MatchRecord['seats'], cut: string) {
  const closed = { kind: 'truncated', reason: 'closed' } as const
  return Object.fromEntries(
    Object.entries(seats).map(([name, { end, success }]) => [
      name,
      { end: name === cut ? end : closed, success: success === undefined ? undefined : false },
    ]),
  )
}

/**
 * Compares the parts that are in no step: the ends of the seats, a limit that may not have run out, and the returns.
 */
function compareWhole(
  environment: EnvironmentDefinition,
  record: MatchRecord,
  end: RehearsedStep['end'],
  { scoring, limits }: ReplayOptions,
): Difference | null {
  const { seats, steps, outcome, params } = record
  if (outcome.kind === 'failed') return null
  const cut = Object.keys(seats).find((name) => stopReasonOf(seats[name]?.end ?? null))
  if (end === null && cut === undefined) return { field: 'end', recorded: 'finished', replayed: null }
  const byRules = Object.fromEntries(
    steps.flatMap(({ seats: { ends = {}, successes = {} } }) =>
      Object.entries(ends).map(([seat, end]) => [seat, { end, success: successes[seat] }]),
    ),
  )
  const ended = { ...(cut !== undefined && cutEnds(seats, cut)), ...byRules }
  const recorded = Object.fromEntries(Object.entries(seats).map(([name, { end, success }]) => [name, { end, success }]))
  const counts = Object.keys(seats).map((name) => steps.filter(({ seat }) => seat === name).length)
  const most = mostSteps(environment, { params }, limits ?? {})
  const ranOut = steps.some((step) => truncationOfTurn(step) === 'step-limit')
  if (limits && ranOut && !counts.includes(most))
    return { field: 'end', recorded: 'step-limit', replayed: `after ${most} steps of a seat` }
  return (
    findDifference(recorded, ended, 'seats') ??
    (scoring &&
      findDifference(
        Object.fromEntries(Object.entries(seats).map(([name, { returns }]) => [name, returns])),
        Object.fromEntries(Object.keys(seats).map((name) => [name, returnsOfSeat(record, name, scoring.discount)])),
        'returns',
      ))
  )
}
