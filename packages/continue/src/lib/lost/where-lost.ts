import { join } from 'node:path'
import { stepsOf } from '@episodic/analysis/replay/steps-before'
import { Spending } from '@episodic/play/play/episodes/spending'
import type { PlanRunOptions } from '@episodic/play/play/plan-run'
import type { PlayRunOptions } from '@episodic/play/play/play-run'
import { type Action, type EpisodeRecord, type SealedRecord, seedFor } from '@episodic/protocol'
import { returnToGo } from '@episodic/report/fold/return-to-go'
import { isSuccess } from '@episodic/report/fold/scored-outcome'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { formatNumber, plural } from '@episodic/report/text/format'
import { shownPath } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { holdsRun, RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { readSealed } from '@episodic/run/folder/record/sealed-file'
import { type ContinueRequest, continueRun } from '../run/continue-run.ts'
import type { Parent, Point } from '../run/parent.ts'
import { findLoss, type Loss, type StepValue } from './find-loss.ts'

export interface LostEpisode {
  readonly task: string
  readonly attempt: number
  /** What values 0 and 1 are as returns, if the world defines no success; `null` if values are shares of successes. */
  readonly returns: { readonly low: number; readonly high: number } | null
  readonly loss: Loss
  /** What was done at the step that is named; `null` if none is. */
  readonly action: Action | null
}

/**
 * Finds the step at which each episode was lost, one after the other; those without a step of their own are left out.
 * Every look at a step is a run in a folder of its own, `<folder>/<task>-<attempt>/step-<n>`, where step n is the first
 * that is played anew, so a search that was stopped is resumed with the same request. Where the world defines no
 * success, it judges by returns, from the lowest to the highest of the episode and of a few continuations of its start.
 *
 * Rejects as `continueRun` does, with what stopped a run, and with `run-failed` if no continuation of a step finished.
 *
 * @param request - `settings.rollouts` are played at a time while it searches. The steps of points are not used.
 * @param budget - how many continuations of an episode are played at most.
 */
export async function* whereLost(
  parent: Parent,
  { points, ...request }: ContinueRequest,
  budget: number,
  options: PlanRunOptions & PlayRunOptions,
): AsyncGenerator<LostEpisode> {
  using spending = new Spending(request.settings)
  for (const point of points)
    if (point.record.steps.length > 0) yield searchIn(parent, { ...request, point, budget }, { ...options, spending })
}

async function searchIn(
  parent: Parent,
  { point, changes, settings, budget }: Omit<ContinueRequest, 'points'> & { point: Point; budget: number },
  { folder, resume, ...options }: PlanRunOptions & PlayRunOptions,
): Promise<LostEpisode> {
  const { task, record } = point
  const from = record.origin?.step ?? 0
  const ofFocus = (line: SealedRecord) => seatRecordOf(line, settings.focus)
  const scoreOf = (line: EpisodeRecord, step: number) => {
    const before = ofFocus({ ...record, steps: record.steps.slice(0, step - from) } as SealedRecord)
    return { success: Number(isSuccess(line)), return: returnToGo([...before.steps, ...line.steps], 1) }
  }
  const looks = new Map<number, number>()
  const play = async (step: number, rollouts: number) => {
    const look = (looks.get(step) ?? 0) + 1
    looks.set(step, look)
    const name = `step-${step + 1}${look === 1 ? '' : `-${look}`}`
    const own = join(folder, `${encodeURIComponent(task.id)}-${record.attempt}`, name)
    // No look has the seeds of another one.
    const seeded = <With extends { readonly seed?: string | undefined }>(given: With): With =>
      given.seed === undefined ? given : { ...given, seed: seedFor(given.seed, 'where-lost', step, look) }
    const { stopped, summary } = await continueRun(
      parent,
      { points: [{ task, record, step }], changes: seeded(changes), settings: { ...seeded(settings), rollouts } },
      { ...options, folder: own, resume: resume && holdsRun(own) },
    )
    options.signal.throwIfAborted()
    if (stopped) throw stopped
    const scores: ReturnType<typeof scoreOf>[] = []
    for await (const line of readSealed(join(own, RUN_FILES.episodes)))
      if (line.outcome.kind === 'finished') scores.push(scoreOf(ofFocus(line), step))
    if (scores.length > 0) return scores
    const [failure] = summary.failures
    throw new HarnessError(
      'run-failed',
      `No continuation in ${shownPath(own)} finished. ${failure?.name}: ${failure?.message}`,
    )
  }
  const { outcome } = ofFocus(record)
  const played = scoreOf(ofFocus(record), from)
  const isJudged = outcome.kind === 'failed' || outcome.success !== undefined
  const few = isJudged ? 0 : Math.min(settings.rollouts, Math.ceil(budget / 8))
  const known = [played, ...(few > 0 ? await play(from, few) : [])].map((score) => score.return)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const outcomeOf = (score: typeof played) =>
    isJudged ? score.success : Math.max(0, Math.min(1, (score.return - low) / (high - low || 1)))
  const loss = await findLoss({
    ...{ from, steps: stepsOf(record), budget: budget - few, rollouts: settings.rollouts },
    end: outcome.kind === 'failed' ? null : outcomeOf(played),
    outcomesAt: async (step, count) => (await play(step, count)).map(outcomeOf),
  })
  const action = (loss.kind === 'lost' && record.steps[loss.step - from - 1]?.action) || null
  return { task: task.id, attempt: record.attempt, returns: isJudged ? null : { low, high }, loss, action }
}

/** Says how much was lost at the step that is named, or why none is. */
export function explainLoss({ loss, returns }: Pick<LostEpisode, 'loss' | 'returns'>): string {
  const shown = (rate: number) =>
    returns ? formatNumber(returns.low + rate * (returns.high - returns.low)) : `${Math.round(rate * 100)} %`
  const said = ({ rate, low, high }: StepValue) =>
    low === high ? shown(rate) : `${shown(rate)} (${shown(low)} to ${shown(high)})`
  if (loss.kind === 'lost') return `${said(loss.before)} → ${said(loss.after)}`
  const [first, last] = [loss.curve[0], loss.curve.at(-1)]
  const why = {
    'no-chance': `no chance from any of ${plural(loss.curve.length, 'step')}`,
    'not-lost': first ? 'the value does not fall measurably' : 'it was not lost',
    gradual: 'the value falls in several steps, and none was found that takes most of it',
    budget: 'too few continuations to say where the value falls; a larger --budget may',
  }[loss.why]
  const ends = first && last ? `: ${said(first)} at the start, ${said(last)} before the last step` : ''
  return `cannot tell: ${why}${ends}`
}
