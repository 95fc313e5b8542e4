import { type Episode, type Match, type ModelAnswer, returnsOf } from '@episodic/env'
import { absenceOf } from '@episodic/mcp-server/internal'
import {
  type Action,
  type Completion,
  chainOf,
  type EpisodeRecord,
  type MatchRecord,
  type RecordedEvent,
  type RecordedSeatStep,
  type RecordedStep,
  type SealedRecord,
  type Step,
  sealOf,
  type Transcript,
} from '@episodic/protocol'
import { judgementOf, wellFormed } from '@episodic/protocol/internal'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { HarnessError } from '@episodic/run/base/harness-error'
import { mapValues } from '@episodic/run/base/map-values'
import { toMicroseconds } from '@episodic/run/base/to-microseconds'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { createRecording, type Recording } from '@episodic/run/folder/record/recording'
import { returnsOfSeat, weigh } from '@episodic/run/folder/record/weigh-terms'
import { MOST_BYTES, placeAnswers, type RecordedAnswers, recordAnswers } from './record-answers.ts'

type RecordedSeat = MatchRecord['seats'][string]

/** The parts of a record that are not in what was played, whatever it was. */
interface AnySealing {
  readonly run: string
  readonly discount: number
  /** Returns the recorded part of an action, see `declaredAction`. Default: all of it. */
  readonly accept?: (action: Action) => Action
  /** The tool that words are. Default: they are none. */
  readonly speech?: string | undefined
  /** How the answers of language models are kept. Default: all, without secrets. */
  readonly recording?: Recording
  /** Milliseconds since the run started. */
  readonly time: { readonly started: number; readonly ended: number }
}

/** The parts of a record of one seat that are not in the episode itself. */
export interface Sealing extends AnySealing {
  readonly policy: EpisodeRecord['policy']
  /** The episode's place in its tree. Default: `null`, it is not part of one. */
  readonly branch?: EpisodeRecord['branch']
  /** Who recorded the answers of a language model. Default: the harness. */
  readonly recordedBy?: Transcript['by'] | undefined
  /** Whether the times of the steps are known. Default: `true`. */
  readonly timed?: boolean
}

/** The parts of a record of several seats that are not in the match itself. */
export interface MatchSealing extends AnySealing {
  readonly policies: { readonly [seat: string]: RecordedSeat['policy'] }
  readonly weights: { readonly [term: string]: number }
  /** Who recorded the answers of the language model of a seat. Default: the harness. */
  readonly recordedBy?: { readonly [seat: string]: Transcript['by'] }
}

/**
 * Returns the record of an episode: an `EpisodeRecord` if it was of one seat, a `MatchRecord` if it was of several. A
 * failed one keeps its steps and its cause, and has no return. One that holds what no line can, such as a number beyond
 * the largest, is recorded as failed with `record-invalid`, without its steps.
 */
export function sealEpisode(episode: Episode, planned: PlannedEpisode, sealing: Sealing): EpisodeRecord
export function sealEpisode(match: Match, planned: PlannedEpisode, sealing: MatchSealing): MatchRecord
export function sealEpisode(
  played: Episode | Match,
  planned: PlannedEpisode,
  sealing: Sealing | MatchSealing,
): SealedRecord {
  const toRecord = (one: Episode | Match) =>
    'policies' in sealing
      ? toMatchRecord(one as Match, planned, sealing)
      : toEpisodeRecord(one as Episode, planned, sealing)
  try {
    return sealed(toRecord(played))
  } catch (cause) {
    const cannot = new HarnessError(
      'record-invalid',
      `The episode holds what no line of a run can, so its steps are not recorded: ${toFailure(cause).message}`,
      { cause },
    )
    return sealed(toRecord({ kind: 'failed', start: null, steps: [], undecided: [], cause: cannot, seat: null }))
  }
}

function toEpisodeRecord(episode: Episode, planned: PlannedEpisode, sealing: Sealing): EpisodeRecord {
  const { start, steps, undecided: left = [] } = episode
  const { policy, branch = null, timed = true, recordedBy, recording = createRecording() } = sealing
  const played = steps.map((step): RecordedStep => {
    const { info, reward, milliseconds } = step
    return toRecordedStep({ ...step, milliseconds: timed ? milliseconds : null }, { reward }, info, sealing)
  })
  const { completions, transcript } = keepAnswers(played, left, recording, recordedBy)
  const { steps: placed, undecided } = placeAnswers(played, completions)
  return {
    ...beginLine(planned, sealing),
    policy,
    ...started(planned, start),
    branch,
    start: start && { observation: start.observation, potential: start.info.potential },
    steps: placed,
    outcome:
      episode.kind === 'failed'
        ? { kind: 'failed', error: redacted(toFailure(episode.cause), recording) }
        : { kind: 'finished', end: episode.end, ...judged(episode, recording) },
    ...(undecided.length > 0 && { undecided }),
    ...(transcript && { transcript }),
    returns: episode.kind === 'finished' ? returnsOf(steps, sealing.discount) : null,
    ...endLine(sealing),
  }
}

function toMatchRecord(match: Match, planned: PlannedEpisode, sealing: MatchSealing): MatchRecord {
  const { start } = match
  const { policies, weights, recordedBy = {}, recording = createRecording(), discount } = sealing
  const names = start ? Object.keys(start.seats) : Object.keys(policies)
  const seatOf = (name: string): RecordedSeat => {
    const { observation, potential = null, messages } = start?.seats[name] ?? {}
    const result = match.kind === 'finished' ? match.seats[name] : undefined
    const prompt = planned.task.seats?.[name]?.prompt
    return {
      policy: policies[name] as RecordedSeat['policy'],
      ...(prompt !== undefined && { prompt }),
      start: observation ? { observation, potential, ...(messages && { messages }) } : null,
      end: result?.end ?? null,
      ...judged(result ?? {}, recording),
      returns: null,
    }
  }
  let record: MatchRecord = {
    ...beginLine(planned, sealing),
    ...started(planned, start),
    turn: start?.turn ?? [],
    seats: Object.fromEntries(names.map((name) => [name, seatOf(name)])),
    steps: match.steps.map((step): RecordedSeatStep => {
      const { seat, report } = step
      const { terms = {}, due: _, messages: __, ...learned } = report.seats ?? { turn: [], views: {} }
      const rewards = mapValues({ [seat]: report.terms, ...terms }, (own) => weigh(own, weights))
      const recorded = toRecordedStep(step, { rewards }, report, sealing)
      return { seat, ...recorded, seats: learned }
    }),
    outcome:
      match.kind === 'failed'
        ? { kind: 'failed', error: redacted(toFailure(match.cause), recording), seat: match.seat }
        : { kind: 'finished' },
    ...((match.undecided ?? []).length > 0 && { undecided: match.undecided }),
    ...endLine(sealing),
  }
  for (const name of names) {
    const own = seatRecordOf(record, name)
    const kept = keepAnswers(own.steps, own.undecided ?? [], recording, recordedBy[name], names.length)
    if (kept.completions.length === 0) continue
    const { completions, ...transcript } = kept
    const { steps, undecided } = placeAnswers(record.steps, completions, ({ seat }) => seat === name)
    const seats = { ...record.seats, [name]: { ...(record.seats[name] as RecordedSeat), ...transcript } }
    record = { ...record, seats, steps, ...(undecided.length > 0 && { undecided }) }
  }
  if (match.kind === 'failed') return record
  const returned = (seat: RecordedSeat, name: string) => ({ ...seat, returns: returnsOfSeat(record, name, discount) })
  return { ...record, seats: mapValues(record.seats, returned) }
}

/** The beginning of a line. The order of the fields is the order in which they are written. */
function beginLine({ task, attempt, try: number = 0, curriculum, origin }: PlannedEpisode, { run }: AnySealing) {
  return {
    format: 3,
    run,
    task: { id: task.id, prompt: task.prompt, difficulty: task.difficulty, split: task.split, tags: task.tags },
    attempt,
    try: number,
    ...(curriculum && { curriculum }),
    ...(origin && { origin }),
  } as const
}

function started({ task }: PlannedEpisode, start: (Episode | Match)['start']) {
  return {
    environment: task.environment,
    params: start?.info.params ?? task.params,
    seed: start?.info.seed ?? task.seed,
  }
}

function endLine({ time }: AnySealing) {
  return { chain: '', time: { started: toMicroseconds(time.started), ended: toMicroseconds(time.ended) }, seal: null }
}

/** Returns a step as it is recorded, with the rewards of one seat or of several. */
function toRecordedStep<Rewards extends object>(
  played: Pick<RecordedStep, 'action' | 'observation' | 'milliseconds'> & {
    readonly completions: readonly ModelAnswer[]
  },
  rewards: Rewards,
  { potential, refused, stateHash, events, prepared }: Omit<Step['info'], 'seq' | 'replayed'>,
  { accept = (action) => action, speech }: AnySealing,
) {
  const { action, observation, milliseconds, completions } = played
  const step = {
    // No player can name the action of a step that the server took.
    action: absenceOf(action) ? action : accept(action),
    ...(action.tool === speech && { speech: true as const }),
    observation,
    ...rewards,
    potential,
    refused,
    stateHash,
    milliseconds: milliseconds === null ? null : toMicroseconds(milliseconds),
  }
  // Most steps have none of these, and each of them spread into the step would cost as much as the step.
  if (!events && prepared === undefined && completions.length === 0) return step
  return {
    ...step,
    ...(events && { events: events.map(recordedOf) }),
    ...(prepared !== undefined && { prepared }),
    ...(completions.length > 0 && { completions }),
  }
}

/** Returns what a line keeps of the answers of a seat's language model, and of what the model was sent. */
function keepAnswers(
  steps: readonly RecordedStep[],
  undecided: readonly ModelAnswer[],
  recording: Recording,
  by: Transcript['by'] | undefined,
  seats = 1,
): RecordedAnswers {
  const asked = steps.some(({ completions }) => completions)
  const answers = [...(asked ? answersOf(steps) : []), ...undecided]
  return recordAnswers(answers, steps, recording, { mostBytes: MOST_BYTES / seats, ...(by && { by }) })
}

/**
 * Returns the answers of the steps. Of the calls that were to be played, those stay marked that were: an episode may
 * end before the last call of an answer.
 */
function answersOf(steps: readonly RecordedStep[]): Completion[] {
  const answers: Completion[] = []
  let following = 0
  for (const { completions = [] } of steps.toReversed()) {
    following += 1
    if (completions.length === 0) continue
    let left = following
    const marked = completions.at(-1)?.calls?.map((call) => ({ ...call, played: call.played && left-- > 0 }))
    const last = { ...(completions.at(-1) as Completion), ...(marked && { calls: marked }) }
    answers.unshift(...completions.slice(0, -1), last)
    following = 0
  }
  return answers
}

/**
 * Drops the revision of an event, which counts commits outside the episode too. Revision 0 marks an inherited event.
 */
function recordedOf(event: NonNullable<Step['info']['events']>[number]): RecordedEvent {
  const { id, type, data, said, sent, end, revision } = event
  return { id, type, data, said, ...(sent && { sent }), end, ...(revision === 0 && { inherited: true }) }
}

/** Returns a failure as it is recorded: a code to count by, and a message to read. */
export function toFailure(cause: unknown): { readonly code: string; readonly message: string } {
  if (!(cause instanceof Error)) return { code: 'unexpected', message: String(cause) }
  const { code } = cause as Error & { code?: unknown }
  return { code: typeof code === 'string' ? code : 'unexpected', message: cause.message }
}

/** Returns how an episode was judged, and why its player ended it, as far as either is known. */
function judged({ stopped, ...rest }: Pick<RecordedSeat, 'success' | 'verdicts' | 'stopped'>, recording: Recording) {
  return { ...judgementOf(rest), ...(stopped && { stopped: redacted(stopped, recording) }) }
}

/** Takes secrets out of a message, which may quote a language model or a program that uses one. */
function redacted<Said extends { readonly message: string }>(said: Said, { redact }: Recording): Said {
  return { ...said, message: redact(said.message) }
}

/**
 * Adds the chain and the seal to a line. Its texts come from models, policies and servers: half of a surrogate pair in
 * one of them becomes U+FFFD here. Throws a `TypeError` for a value that is not JSON.
 */
export function sealed<Line extends SealedRecord>(line: Line): Line {
  try {
    return hashed(line)
  } catch {
    // Nearly all lines are well-formed, and to look at each text first would cost more than the rest of sealing.
    return hashed(wellFormed(line))
  }
}

/** Characters of pictures and sounds, as base64, that one line has. */
const MOST_ATTACHED = 8 * 1024 * 1024

/**
 * Returns a line that has the bytes of each picture and sound once, in the first step that shows it, and none above
 * {@link MOST_ATTACHED}. The hashes stay.
 */
function withAttachmentsOnce<Line extends SealedRecord>(line: Line): Line {
  const steps: readonly (RecordedStep | RecordedSeatStep)[] = line.steps
  if (!steps.some(({ observation }) => observation.attachments)) return line
  const known = new Set<string>()
  let room = MOST_ATTACHED
  return {
    ...line,
    steps: steps.map((step) => {
      const attachments = step.observation.attachments?.map(({ data, ...rest }) => {
        if (data === undefined || known.has(rest.sha256) || data.length > room) return rest
        known.add(rest.sha256)
        room -= data.length
        return { ...rest, data }
      })
      return attachments ? { ...step, observation: { ...step.observation, attachments } } : step
    }),
  }
}

function hashed<Line extends SealedRecord>(given: Line): Line {
  const line = withAttachmentsOnce(given)
  const chained = { ...line, chain: chainOf(line) }
  return { ...chained, seal: sealOf(chained) }
}
