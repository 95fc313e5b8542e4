import type { Difference } from '@episodic/continue/compare/difference'
import type { ContinueRequest } from '@episodic/continue/run/continue-run'
import type { ContinuedRun, ContinuedRuns } from '@episodic/continue/run/with-control'
import {
  formatCount,
  formatNumber,
  formatPercent,
  formatShareInterval,
  NOTHING,
  plural,
} from '@episodic/report/text/format'
import { alignColumns } from '@episodic/run/base/align-columns'
import { type Console, colorsOf, commandLine, shownPath } from '@episodic/run/base/console'

/** Returns what continuations came to, beside their control, as a table. */
export function formatContinued(
  { points }: ContinueRequest,
  runs: ContinuedRuns,
  { out }: Pick<Console, 'out'>,
): string {
  const { bold } = colorsOf(out)
  const { changed, control, difference, partings } = runs
  const [first] = points
  const which =
    points.length === 1 && first
      ? `task ${first.record.task.id}, attempt ${first.record.attempt}, after ${plural(first.step, 'step')}`
      : `${plural(points.length, 'episode')}, each after ${plural(first?.step ?? 0, 'step')}`
  const rows = [
    ...(control ? [rowOf('control', control)] : []),
    rowOf(control ? 'changed' : 'continued', changed),
    ...(control
      ? [['difference', '', differenceOf(difference?.success, true), differenceOf(difference?.return, false)]]
      : []),
  ]
  const parting = partings && [
    partings.first === null
      ? `All ${plural(partings.pairs, 'pair')} of continuations are equal step by step.`
      : `${partings.parted} of ${plural(partings.pairs, 'pair')} part, the first at step ${partings.first}.`,
  ]
  const folders = [control, changed].flatMap((run) => (run ? [shownPath(run.folder)] : []))
  return [
    bold(`Continued ${which}`),
    '',
    ...alignColumns(['', 'episodes', 'success', 'return'], rows, 1),
    '',
    ...(parting ?? []),
    ...folders.map((folder) => `view: ${commandLine(['view', folder])}`),
    '',
  ].join('\n')
}

function rowOf(name: string, { summary, success, return: mean }: ContinuedRun): string[] {
  const share = success && `${formatPercent(success.rate)} ${formatShareInterval(success)}`
  return [name, formatCount(summary.counts.finished), share ?? NOTHING, mean === null ? NOTHING : formatNumber(mean)]
}

function differenceOf(difference: Difference | null | undefined, isShare: boolean): string {
  if (!difference) return NOTHING
  const signed = (value: number) =>
    `${value < 0 ? '−' : '+'}${isShare ? Math.round(Math.abs(value) * 100) : formatNumber(Math.abs(value))}`
  const { difference: value, low, high } = difference
  const interval = low === null || high === null ? '' : ` (${signed(low)} to ${signed(high)})`
  return `${signed(value)}${isShare ? ' points' : ''}${interval}`
}

/** Returns what continuations came to as JSON. */
export function toJson(
  { points, changes, settings }: ContinueRequest,
  { changed, control, ...compared }: ContinuedRuns,
) {
  const { policy, seat, rollouts, systemPrompt } = settings
  const runOf = ({ folder, summary, success, return: mean }: ContinuedRun) => {
    return { folder: shownPath(folder), success, return: mean, summary }
  }
  return {
    points: points.map(({ record, step }) => ({ task: record.task.id, attempt: record.attempt, after: step })),
    changes: {
      ...changes,
      ...(seat ? { seat } : { policy }),
      ...(systemPrompt !== undefined && { system: systemPrompt }),
    },
    rollouts,
    changed: runOf(changed),
    control: control && runOf(control),
    ...compared,
  }
}
