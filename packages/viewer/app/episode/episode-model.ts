import { isMatchRecord, playedCalls, type Reward, type SealedRecord } from '@episodic/protocol'
import { type PolicyVersions, policyVersionsOf } from '@episodic/report/fold/policy-versions'
import { isSuccess, scoredOutcomeOf } from '@episodic/report/fold/scored-outcome'
import { type Row, rowOf } from '@episodic/report/rows/row'
import { hasStarted, seatRecordOf } from '@episodic/report/seats/seat-record'
import { type ShownRecord, toShownRecord } from '@episodic/report/seats/shown-record'
import type { RowWords } from '@episodic/report/view/run-entry'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import { type Result, resultOf } from '../parts/result.tsx'
import { type AnsweredRequest, answersOf, recorderOf } from './requests.ts'
import { usualValue } from './step-bars.ts'

export interface EpisodeModel {
  readonly record: SealedRecord
  /** The seats; empty if the environment has one. */
  readonly seats: readonly string[]
  readonly seat: string | null
  readonly shown: ShownRecord
  readonly figures: Row
  /** Of the weights; `null` if they are not known. */
  readonly versions: PolicyVersions | null
  readonly result: Result
  readonly ending: string
  readonly message: string | null
  readonly started: boolean
  readonly answers: readonly AnsweredRequest[]
  readonly answersOfStep: readonly (readonly number[])[]
  /** Which call of an answer each step played, as "2 of 3"; `null` for the only one, and where no model called. */
  readonly placeInAnswer: readonly (string | null)[]
  readonly undecided: readonly number[]
  readonly returns: readonly RunningReturn[]
  /** The reward that most steps have, if there is one: it says nothing of a step. */
  readonly usualReward: number | null
  /** Steps with another reward than before, or a refusal. */
  readonly notable: readonly number[]
  readonly recorder: ReturnType<typeof recorderOf>
}

export interface LoadedEpisode {
  readonly task: { readonly task: string; readonly prompt: string }
  readonly words: RowWords
  readonly tries: readonly RowWords[]
  readonly record: SealedRecord
  readonly text: string
}

export function episodeModel(record: SealedRecord, focus: string | null): EpisodeModel {
  const seats = isMatchRecord(record) ? Object.keys(record.seats) : []
  const seat = seats.find((name) => name === focus) ?? seats[0] ?? null
  const shown = isMatchRecord(record) ? toShownRecord(record, seat ?? '') : record
  const own = seatRecordOf(record, seat ?? undefined)
  const outcome = scoredOutcomeOf(own)
  const answers = answersOf(record)
  const byStep = Map.groupBy(answers.keys(), (number) => answers[number]?.step ?? null)
  return {
    record,
    seats,
    seat,
    shown,
    figures: rowOf(record, seat ?? undefined),
    versions: policyVersionsOf(own),
    result: resultOf(outcome.kind === 'failed' ? 'failed' : outcome.end.kind, isSuccess(own)),
    ending: outcome.kind === 'failed' ? outcome.error.code : outcome.end.reason,
    message: outcome.kind === 'failed' ? outcome.error.message : null,
    started: hasStarted(record),
    answers,
    answersOfStep: record.steps.map((_, step) => byStep.get(step) ?? []),
    placeInAnswer: playedCalls(record.steps).map((played) => {
      const calls = played?.answer.calls?.filter((call) => call.played) ?? []
      return played && calls.length > 1 ? `${calls.indexOf(played.call) + 1} of ${calls.length}` : null
    }),
    undecided: byStep.get(null) ?? [],
    returns: runningReturns(shown.steps),
    usualReward: usualValue(shown.steps.map(({ reward }) => reward.total)),
    notable: notableSteps(shown.steps),
    recorder: recorderOf(record),
  }
}

/** The number of a step as it is shown, with those of the episodes that it goes on from. */
export function numberOf(model: EpisodeModel | undefined, index: number): number {
  return (model?.record.origin?.step ?? 0) + index + 1
}

/** What the changes of a step are in the states of an episode; `null` if they are not known. */
export function changesOfStep(states: EpisodeStates | null, step: number) {
  return states?.steps.find((changes) => changes.step === step) ?? null
}

export interface RunningReturn {
  /** Sum of the rewards up to the step, its own included. */
  readonly sum: number
  /** Sum of the rewards from the step on, its own included: the return to go, not discounted. */
  readonly toGo: number
}

export function runningReturns(steps: readonly { readonly reward: Reward }[]): RunningReturn[] {
  const total = steps.reduce((sum, { reward }) => sum + reward.total, 0)
  let sum = 0
  return steps.map(({ reward }) => {
    const toGo = total - sum
    sum += reward.total
    return { sum, toGo }
  })
}

/** Returns the steps at which something happened to a reader: the reward is not what it was before, or a refusal. */
export function notableSteps(steps: readonly { readonly reward: Reward; readonly refused: unknown }[]): number[] {
  return [...steps.keys()].filter((i) => {
    const [step, before] = [steps[i], steps[i - 1]]
    if (!step) return false
    const changed = Math.abs(step.reward.total - (before?.reward.total ?? 0)) > 1e-9
    return changed || step.refused !== null
  })
}
