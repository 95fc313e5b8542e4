import { type Episode, returnsOf } from '@episodic/env'
import {
  type Action,
  chainOf,
  type EpisodeRecord,
  type RecordedEvent,
  type Reproducible,
  type Step,
} from '@episodic/protocol'
import type { PlannedEpisode } from './plan.ts'

/** What a record says besides what was played. */
export interface Sealing {
  readonly run: string
  readonly policy: { readonly name: string; readonly seed: string }
  readonly discount: number
  /** What is kept of an action, see `declaredAction`. Default: all of it. */
  readonly accept?: (action: Action) => Action
  /** Its place among episodes that share their beginnings. Default: it shares none. */
  readonly branch?: EpisodeRecord['branch']
  /** Whether the times of the steps are known. Default: they are. */
  readonly timed?: boolean
  /** Milliseconds since the run began. */
  readonly time: { readonly started: number; readonly ended: number }
}

/** Makes the record of an episode. A failed one keeps its steps and its cause, and has no return. */
export function sealEpisode(episode: Episode, { task, attempt }: PlannedEpisode, sealing: Sealing): EpisodeRecord {
  const { start, steps } = episode
  const { accept = (action) => action } = sealing
  const reproducible: Reproducible = {
    environment: task.environment,
    params: start?.info.params ?? task.params,
    seed: start?.info.seed ?? task.seed,
    branch: sealing.branch ?? null,
    start: start && { observation: start.observation, potential: start.info.potential },
    steps: steps.map(({ action, observation, reward, info, milliseconds, completions }) => ({
      action: accept(action),
      observation,
      reward,
      potential: info.potential,
      refused: info.refused,
      stateHash: info.stateHash,
      milliseconds: sealing.timed === false ? null : roundTime(milliseconds),
      ...(info.events && { events: info.events.map(recordedOf) }),
      ...(info.prepared !== undefined && { prepared: info.prepared }),
      ...(completions.length > 0 && { completions }),
    })),
    outcome:
      episode.kind === 'finished'
        ? { kind: 'finished', end: episode.end, ...(episode.success !== undefined && { success: episode.success }) }
        : { kind: 'failed', error: describeFailure(episode.cause) },
  }
  return {
    format: 2,
    run: sealing.run,
    task: { id: task.id, prompt: task.prompt, difficulty: task.difficulty, split: task.split, tags: task.tags },
    attempt,
    policy: sealing.policy,
    ...reproducible,
    ...(episode.kind === 'failed' && episode.undecided.length > 0 && { undecided: episode.undecided }),
    returns: episode.kind === 'finished' ? returnsOf(steps, sealing.discount) : null,
    chain: chainOf(reproducible),
    time: { started: roundTime(sealing.time.started), ended: roundTime(sealing.time.ended) },
  }
}

/** An event without the revision that it made, which counts what is no part of the episode. None of its own is the first, 0. */
function recordedOf({
  id,
  type,
  data,
  said,
  end,
  revision,
}: NonNullable<Step['info']['events']>[number]): RecordedEvent {
  return { id, type, data, said, end, ...(revision === 0 && { inherited: true }) }
}

/** A failure as a record keeps it: a code to count by, and words to read. */
export function describeFailure(cause: unknown): { readonly code: string; readonly message: string } {
  if (!(cause instanceof Error)) return { code: 'unexpected', message: String(cause) }
  const { code } = cause as Error & { code?: unknown }
  return { code: typeof code === 'string' ? code : 'unexpected', message: cause.message }
}

/** Microseconds are as fine as a clock is worth. */
function roundTime(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000
}
