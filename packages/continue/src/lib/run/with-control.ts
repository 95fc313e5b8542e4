import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Spending } from '@episodic/play/play/episodes/spending'
import type { Run } from '@episodic/play/play/find-run'
import type { PlanRunOptions } from '@episodic/play/play/plan-run'
import type { PlayRunOptions } from '@episodic/play/play/play-run'
import type { ReportedRun } from '@episodic/play/play/report-run'
import type { SealedRecord } from '@episodic/protocol'
import { isSuccess } from '@episodic/report/fold/scored-outcome'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { holdsRun, RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { readSealed } from '@episodic/run/folder/record/sealed-file'
import { compareMeans, compareShares, type Difference, meanOf, type Share, shareOf } from '../compare/difference.ts'
import { type Partings, partingsOf } from '../compare/parting.ts'
import { type ContinueRequest, findContinued, playContinued } from './continue-run.ts'
import type { Parent } from './parent.ts'

export interface ContinuedRun extends ReportedRun {
  /** The share of success with its 95 % interval, and the mean return; `null` if no episode has finished. */
  readonly success: Share | null
  readonly return: number | null
}

export interface ContinuedRuns {
  readonly changed: ContinuedRun
  /** `null` if no control was asked for. */
  readonly control: ContinuedRun | null
  /** Between them, of success and of return; `null` without a control, or if nothing has finished. */
  readonly difference: { readonly success: Difference | null; readonly return: Difference | null } | null
  readonly partings: Partings | null
}

const CONTROL = 'control'
const CHANGED = 'changed'

/**
 * Continues points with a change, and as often without it, in folders of their own, and compares them. Both have the
 * same seeds of players, so what differs comes of the change. Rejects as {@link continueRun} does.
 *
 * @param usual - how the points are continued without the change; `null` for no control, which is left out also if
 *   nothing is changed.
 */
export async function continueWithControl(
  parent: Parent,
  request: ContinueRequest,
  usual: ContinueRequest | null,
  { folder, ...options }: Omit<PlanRunOptions & PlayRunOptions, 'spending'>,
): Promise<ContinuedRuns> {
  const control = isDeepStrictEqual(request, usual) ? null : usual
  // A wrong change is found before the control is played.
  const found = await findContinued(parent, request)
  using spending = new Spending(request.settings)
  const play = async (asked: Run, own: string, resume = options.resume) => {
    const run = await playContinued(asked, parent, request, { ...options, resume, spending, folder: own })
    const records: SealedRecord[] = []
    for await (const record of readSealed(join(own, RUN_FILES.episodes))) records.push(record)
    const outcomes = outcomesOf(request, records, found.configuration)
    const shown = { success: shareOf(outcomes.success), return: meanOf(outcomes.return) }
    return { run: { ...run, ...shown }, records, outcomes }
  }
  const before = control && (await play(await findContinued(parent, control), join(folder, CONTROL)))
  const own = control ? join(folder, CHANGED) : folder
  // What was stopped in its control has no other run yet.
  const after = await play(found, own, options.resume && (!control || holdsRun(own)))
  return {
    changed: after.run,
    control: before?.run ?? null,
    difference: before && {
      success: compareShares(before.outcomes.success, after.outcomes.success),
      return: compareMeans(before.outcomes.return, after.outcomes.return),
    },
    partings: before && partingsOf(before.records, after.records),
  }
}

function outcomesOf(
  { points }: ContinueRequest,
  records: readonly SealedRecord[],
  { rollouts, focus }: RunConfiguration,
) {
  const pointsOf = Map.groupBy(points.keys(), (i) => points[i]?.task.id)
  const scored = records.flatMap((record) => {
    const episode = seatRecordOf(record, focus)
    const { task, attempt, returns } = episode
    const point = pointsOf.get(task.id)?.[Math.floor(attempt / rollouts)] ?? -1
    return returns ? [{ point, success: Number(isSuccess(episode)), return: returns.unshaped }] : []
  })
  const valuesOf = (name: 'success' | 'return') => scored.map(({ point, [name]: value }) => ({ point, value }))
  return { success: valuesOf('success'), return: valuesOf('return') }
}
