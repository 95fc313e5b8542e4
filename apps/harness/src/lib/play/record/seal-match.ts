import { type Match, returnsOf } from '@episodic/env'
import { absenceOf } from '@episodic/mcp-server/extend'
import type {
  Action,
  MatchRecord,
  RecordedSeat,
  RecordedSeatStep,
  ReproducibleMatch,
  Reward,
  Transcript,
} from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report'
import type { PlannedEpisode } from '../../run-folder/plan/planned-episode.ts'
import { createRecording, type Recording } from '../../run-folder/record/recording.ts'
import { MOST_BYTES, placeAnswers, recordAnswers } from './record-answers.ts'
import { cannotBeSealed, describeFailure, recordedOf, redacted, roundTime, sealed } from './seal-episode.ts'

/** The parts of a record that are not in the match itself. */
export interface MatchSealing {
  readonly run: string
  /** The name and the seed of each seat's policy. */
  readonly policies: { readonly [seat: string]: RecordedSeat['policy'] }
  readonly weights: { readonly [term: string]: number }
  readonly discount: number
  /** Returns the recorded part of a player's action, see `declaredAction`. */
  readonly accept: (action: Action) => Action
  /** Who recorded the answers of the language model of a seat. Default: the harness. */
  readonly recordedBy?: { readonly [seat: string]: Transcript['by'] }
  /** How the answers of language models are kept. Default: all, without secrets. */
  readonly recording?: Recording
  /** Milliseconds since the run started. */
  readonly time: { readonly started: number; readonly ended: number }
}

/**
 * Returns the record of a match. A failed one keeps its steps, its cause and the seat at fault, and has no return. One
 * that holds what no line can is recorded as failed, see {@link cannotBeSealed}.
 */
export function sealMatch(match: Match, planned: PlannedEpisode, sealing: MatchSealing): MatchRecord {
  try {
    return recordOf(match, planned, sealing)
  } catch (cause) {
    const cannot = cannotBeSealed(cause)
    return recordOf(
      { kind: 'failed', start: null, steps: [], undecided: [], cause: cannot, seat: null },
      planned,
      sealing,
    )
  }
}

function recordOf(match: Match, planned: PlannedEpisode, sealing: MatchSealing): MatchRecord {
  const { task, attempt, try: number = 0, curriculum } = planned
  const { start } = match
  const { policies, weights, recording = createRecording() } = sealing
  const names = start ? Object.keys(start.seats) : Object.keys(policies)
  const steps = match.steps.map((step) => recordedStep(step, sealing))
  const { undecided = [] } = match
  const hasAnswers = undecided.length > 0 || match.steps.some(({ completions }) => completions.length > 0)
  const redact = hasAnswers || sealing.recordedBy !== undefined ? recording.redact : (text: string) => text
  const seatOf = (name: string): RecordedSeat => {
    const { observation, potential = null } = start?.seats[name] ?? {}
    const { end = null, success, stopped } = match.kind === 'finished' ? (match.seats[name] ?? {}) : {}
    return {
      policy: policies[name] as RecordedSeat['policy'],
      ...(task.seats?.[name] && { prompt: task.seats[name].prompt }),
      start: observation ? { observation, potential } : null,
      end,
      ...(success !== undefined && { success }),
      ...(stopped && { stopped: redacted(stopped, redact) }),
      returns: null,
    }
  }
  const played: ReproducibleMatch & Pick<MatchRecord, 'seats'> = {
    environment: task.environment,
    params: start?.info.params ?? task.params,
    seed: start?.info.seed ?? task.seed,
    turn: start?.turn ?? [],
    seats: Object.fromEntries(names.map((name) => [name, seatOf(name)])),
    steps,
    outcome:
      match.kind === 'finished'
        ? { kind: 'finished' }
        : {
            kind: 'failed',
            error: redacted(describeFailure(match.cause), redact),
            seat: match.seat,
          },
  }
  const raw: MatchRecord = {
    format: 3,
    run: sealing.run,
    task: { id: task.id, prompt: task.prompt, difficulty: task.difficulty, split: task.split, tags: task.tags },
    attempt,
    try: number,
    ...(curriculum && { curriculum }),
    ...played,
    ...(undecided.length > 0 && { undecided }),
    chain: '',
    time: { started: roundTime(sealing.time.started), ended: roundTime(sealing.time.ended) },
    seal: null,
  }
  const record = withAnswers(raw, recording, sealing.recordedBy ?? {})
  if (match.kind === 'failed') return sealed(record)
  const seats = names.map((name) => [
    name,
    { ...(record.seats[name] as RecordedSeat), returns: returnsOfSeat(record, name, sealing.discount) },
  ])
  return sealed({ ...record, seats: Object.fromEntries(seats) })

  function recordedStep(step: Match['steps'][number], { accept }: MatchSealing): RecordedSeatStep {
    const { seat, action, observation, report, completions, milliseconds } = step
    const { terms = {}, due: _, messages: __, ...learned } = report.seats ?? { turn: [], views: {} }
    const rewards = Object.entries({ [seat]: report.terms, ...terms }).map(
      ([name, terms]) => [name, weighed(terms, weights)] as const,
    )
    return {
      seat,
      // No player can name the action of a step that the server took.
      action: absenceOf(action) ? action : accept(action),
      observation,
      rewards: Object.fromEntries(rewards),
      potential: report.potential,
      refused: report.refused,
      stateHash: report.stateHash,
      milliseconds: milliseconds === null ? null : roundTime(milliseconds),
      ...(report.events && { events: report.events.map(recordedOf) }),
      ...(report.prepared !== undefined && { prepared: report.prepared }),
      ...(completions.length > 0 && { completions }),
      seats: learned,
    }
  }
}

/** Returns a match with what it keeps of the answers of each seat's model, and of what the model was sent. */
function withAnswers(
  record: MatchRecord,
  recording: Recording,
  recordedBy: NonNullable<MatchSealing['recordedBy']>,
): MatchRecord {
  const names = Object.keys(record.seats)
  let { seats, steps, undecided } = record
  for (const name of names) {
    const own = seatRecordOf(record, name)
    const answers = [...own.steps.flatMap(({ completions = [] }) => completions), ...(own.undecided ?? [])]
    if (answers.length === 0) continue
    const { completions, transcript } = recordAnswers(answers, own.steps, recording, {
      mostBytes: MOST_BYTES / names.length,
      by: recordedBy[name] ?? 'harness',
    })
    const placed = placeAnswers(steps, completions, ({ seat }) => seat === name)
    steps = placed.steps
    if (placed.undecided.length > 0) undecided = placed.undecided
    if (transcript) seats = { ...seats, [name]: { ...(seats[name] as RecordedSeat), transcript } }
  }
  return { ...record, seats, steps, ...(undecided && { undecided }) }
}

/**
 * Returns what a seat earned in a finished match, with the discount by its own steps. What a seat earned that never
 * acted is in no step of its own.
 */
export function returnsOfSeat(record: MatchRecord, seat: string, discount: number) {
  const { steps } = seatRecordOf(record, seat)
  if (steps.length > 0) return returnsOf(steps, discount)
  const rewards = record.steps.flatMap(({ rewards }) => rewards[seat] ?? [])
  return returnsOf(
    rewards.map((reward) => ({ reward })),
    1,
  )
}

/** Weighs raw terms: a term without a weight has weight 1. */
export function weighed(terms: Reward['terms'], weights: { readonly [term: string]: number }): Reward {
  let total = 0
  for (const name in terms) total += (weights[name] ?? 1) * (terms[name] as number)
  return { total, terms, shaping: 0 }
}
