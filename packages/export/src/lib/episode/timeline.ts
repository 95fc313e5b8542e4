import {
  type Completion,
  type EpisodeRecord,
  type ModelRequest,
  playedCalls,
  type RecordedStep,
  requestsOf,
} from '@episodic/protocol'
import type { ExportSource } from '../export-format.ts'

/** What an episode did, one thing after the other. Times are milliseconds since 1970. */
export type Timeline = ReturnType<typeof timelineOf>

export type Activity = AnswerActivity | CallActivity

export interface AnswerActivity {
  readonly kind: 'answer'
  readonly from: number
  readonly to: number
  /** From 0, over all answers of the episode. */
  readonly index: number
  readonly completion: Completion
  /** `null` if it was not recorded. */
  readonly request: ModelRequest | null
}

export interface CallActivity {
  readonly kind: 'call'
  readonly from: number
  readonly to: number
  readonly index: number
  readonly step: RecordedStep
  /** The id of the call, as its language model gave it; `null` for other players. */
  readonly callId: string | null
}

/**
 * Returns when an episode's answers and calls began and ended. Lines have durations, so each begins where the one
 * before ended; one that was not measured takes no time. A file of lines without a run counts from 1970.
 */
export function timelineOf(record: EpisodeRecord, { run }: Pick<ExportSource, 'run'>) {
  const base = run ? Date.parse(run.createdAt) : 0
  const requests = requestsOf(record)
  const calls = playedCalls(record.steps)
  const activities: Activity[] = []
  const started = base + record.time.started
  let now = started
  let index = 0
  const answer = (completion: Completion) => {
    const { time, tries = [] } = completion
    const asked = now
    const failed = tries.reduce((sum, { milliseconds }) => sum + milliseconds, 0)
    const sent = now + (time?.waited ?? 0) + failed
    now = sent + (time?.milliseconds ?? 0)
    // Requests that failed are a part of the operation, and waiting for a rate limit is not.
    const from = tries.length > 0 ? asked : sent
    activities.push({ kind: 'answer', from, to: now, index, completion, request: requests[index] ?? null })
    index += 1
  }
  for (const [number, step] of record.steps.entries()) {
    step.completions?.forEach(answer)
    const from = now
    now += step.milliseconds ?? 0
    activities.push({ kind: 'call', from, to: now, index: number, step, callId: calls[number]?.call.id ?? null })
  }
  record.undecided?.forEach(answer)
  return { started, ended: Math.max(base + record.time.ended, now), activities }
}
