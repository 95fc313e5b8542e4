import { type Episode, type ModelAnswer, returnsOf } from '@episodic/env'
import {
  type Action,
  chainOf,
  type EpisodeRecord,
  type RecordedEvent,
  type RecordedStep,
  type Reproducible,
  type SealedRecord,
  type Step,
  sealOf,
  type Transcript,
} from '@episodic/protocol'
import { wellFormed } from '@episodic/protocol/extend'
import { HarnessError } from '../../base/harness-error.ts'
import type { PlannedEpisode } from '../../run-folder/plan/planned-episode.ts'
import { createRecording, type Recording } from '../../run-folder/record/recording.ts'
import { placeAnswers, recordAnswers } from './record-answers.ts'

/** The parts of a record that are not in the episode itself. */
export interface Sealing {
  readonly run: string
  readonly policy: EpisodeRecord['policy']
  readonly discount: number
  /** Returns the recorded part of an action, see `declaredAction`. Default: all of it. */
  readonly accept?: (action: Action) => Action
  /** The episode's place in its tree. Default: `null`, it is not part of one. */
  readonly branch?: EpisodeRecord['branch']
  /** Answers of a language model after the last step, beside those of a failed episode. Default: none. */
  readonly undecided?: readonly ModelAnswer[]
  /** Who recorded the answers of a language model. Default: the harness. */
  readonly recordedBy?: Transcript['by'] | undefined
  /** How the answers of a language model are kept. Default: all, without secrets. */
  readonly recording?: Recording
  /** Whether the times of the steps are known. Default: `true`. */
  readonly timed?: boolean
  /** Milliseconds since the run started. */
  readonly time: { readonly started: number; readonly ended: number }
}

/**
 * Returns the record of an episode. A failed one keeps its steps and its cause, and has no return. An episode that
 * holds what no line can, such as a number beyond the largest, is recorded as failed with `record-invalid`, without its
 * steps.
 */
export function sealEpisode(episode: Episode, planned: PlannedEpisode, sealing: Sealing): EpisodeRecord {
  try {
    return recordOf(episode, planned, sealing)
  } catch (cause) {
    const failed: Episode = { kind: 'failed', start: null, steps: [], undecided: [], cause: cannotBeSealed(cause) }
    return recordOf(failed, planned, { ...sealing, undecided: [] })
  }
}

/** Returns the failure of an episode that cannot be written as a line. */
export function cannotBeSealed(cause: unknown): HarnessError {
  return new HarnessError(
    'record-invalid',
    `The episode holds what no line of a run can, so its steps are not recorded: ${describeFailure(cause).message}`,
    { cause },
  )
}

function recordOf(episode: Episode, planned: PlannedEpisode, sealing: Sealing): EpisodeRecord {
  const { task, attempt, try: number = 0, curriculum } = planned
  const { start, steps } = episode
  const { accept = (action) => action, recording = createRecording() } = sealing
  const played = steps.map(({ action, observation, reward, info, milliseconds, completions }): RecordedStep => {
    const step = {
      action: accept(action),
      observation,
      reward,
      potential: info.potential,
      refused: info.refused,
      stateHash: info.stateHash,
      milliseconds: sealing.timed === false ? null : roundTime(milliseconds),
    }
    // Most steps have none of these, and each of them spread into the step would cost as much as the step.
    if (!info.events && info.prepared === undefined && completions.length === 0) return step
    return {
      ...step,
      ...(info.events && { events: info.events.map(recordedOf) }),
      ...(info.prepared !== undefined && { prepared: info.prepared }),
      ...(completions.length > 0 && { completions }),
    }
  })
  const answers: readonly ModelAnswer[] = [
    ...(steps.some(({ completions }) => completions.length > 0) ? steps.flatMap(({ completions }) => completions) : []),
    ...(episode.undecided ?? []),
    ...(sealing.undecided ?? []),
  ]
  const { recordedBy } = sealing
  const {
    steps: recorded,
    undecided,
    transcript,
  } = answers.length === 0
    ? { steps: played, undecided: [], transcript: undefined }
    : withAnswers(played, answers, recording, recordedBy)
  const reproducible: Reproducible = {
    environment: task.environment,
    params: start?.info.params ?? task.params,
    seed: start?.info.seed ?? task.seed,
    branch: sealing.branch ?? null,
    start: start && { observation: start.observation, potential: start.info.potential },
    steps: recorded,
    outcome: outcomeOf(episode, answers.length > 0 || recordedBy !== undefined ? recording.redact : (text) => text),
  }
  return sealed({
    format: 3,
    run: sealing.run,
    task: { id: task.id, prompt: task.prompt, difficulty: task.difficulty, split: task.split, tags: task.tags },
    attempt,
    try: number,
    ...(curriculum && { curriculum }),
    policy: sealing.policy,
    ...reproducible,
    ...(undecided.length > 0 && { undecided }),
    ...(transcript && { transcript }),
    returns: episode.kind === 'finished' ? returnsOf(steps, sealing.discount) : null,
    chain: '',
    time: { started: roundTime(sealing.time.started), ended: roundTime(sealing.time.ended) },
    seal: null,
  })
}

/**
 * Returns the steps with what is kept of the answers of a language model, the answers that led to no step, and the
 * transcript.
 */
function withAnswers(
  played: readonly RecordedStep[],
  answers: readonly ModelAnswer[],
  recording: Recording,
  by: Transcript['by'] | undefined,
) {
  const { completions, transcript } = recordAnswers(answers, played, recording, by ? { by } : {})
  return { ...placeAnswers(played, completions), transcript }
}

/**
 * Drops the revision of an event, which counts commits outside the episode too. Revision 0 marks an inherited event.
 */
export function recordedOf({
  id,
  type,
  data,
  said,
  end,
  revision,
}: NonNullable<Step['info']['events']>[number]): RecordedEvent {
  return { id, type, data, said, end, ...(revision === 0 && { inherited: true }) }
}

/** Returns a failure as it is recorded: a code to count by, and a message to read. */
export function describeFailure(cause: unknown): { readonly code: string; readonly message: string } {
  if (!(cause instanceof Error)) return { code: 'unexpected', message: String(cause) }
  const { code } = cause as Error & { code?: unknown }
  return { code: typeof code === 'string' ? code : 'unexpected', message: cause.message }
}

/** @param redact - takes secrets out of a message, which may quote a language model or a program that uses one. */
function outcomeOf(episode: Episode, redact: (text: string) => string): EpisodeRecord['outcome'] {
  if (episode.kind === 'failed') return { kind: 'failed', error: redacted(describeFailure(episode.cause), redact) }
  const { end, success, stopped } = episode
  return {
    kind: 'finished',
    end,
    ...(success !== undefined && { success }),
    ...(stopped && { stopped: redacted(stopped, redact) }),
  }
}

/** Takes secrets out of a message. */
export function redacted<Said extends { readonly message: string }>(
  said: Said,
  redact: (text: string) => string,
): Said {
  return { ...said, message: redact(said.message) }
}

/** Rounds to microseconds. */
export function roundTime(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000
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

function hashed<Line extends SealedRecord>(line: Line): Line {
  const chained = { ...line, chain: chainOf(line) }
  return { ...chained, seal: sealOf(chained) }
}
