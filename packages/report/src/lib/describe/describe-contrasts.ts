import type { PairedFigure } from '../compare/comparison.ts'
import type { Contrasts } from '../compare/contrasts.ts'
import { formatCount, formatNumber, formatPercent, plural } from '../text/format.ts'
import { formatPoints, formatPValue, formatSigned } from './describe-comparison.ts'

/** One figure of a run against the baseline, formatted. */
export interface ContrastRow {
  readonly figure: string
  readonly difference: string
  readonly interval: string
  /** The adjusted p-value of the sign test. */
  readonly p: string
  readonly verdict: 'higher' | 'lower' | 'same' | 'not shown'
  /** Whether the run is shown to be better or worse by it; `null` for figures that are neither, and if nothing is shown. */
  readonly better: boolean | null
  readonly paired: PairedFigure
}

/** Below it, an adjusted p-value shows a difference. */
const SIGNIFICANCE = 0.05

/** The figures of a contrast in display order. Differences of shares are in percentage points. */
export function contrastRows(contrast: Contrasts['contrasts'][number]): ContrastRow[] {
  const figures = [
    ...(['success', 'return', 'steps', 'tokens', 'cost'] as const).map((name) => [name, contrast[name]] as const),
    ...contrast.grades.map((grade) => [`grade ${grade.name}`, grade] as const),
  ]
  return figures.flatMap(([name, figure]) => {
    if (!figure) return []
    const isShare = 'unit' in figure ? figure.unit === 'share' : name === 'success'
    const signed = (value: number) => (isShare ? formatPoints(value * 100) : formatSigned(value))
    const unit = isShare ? ' points' : ''
    const { mean, low, high } = figure.difference
    const isShown = figure.holm < SIGNIFICANCE && figure.effect !== 'unclear'
    const verdict = figure.effect === 'same' ? 'same' : isShown ? (mean > 0 ? 'higher' : 'lower') : 'not shown'
    const isScore = name === 'success' || name === 'return'
    return {
      figure: name,
      difference: `${signed(mean)}${unit}`,
      interval: low === null || high === null ? '' : `${signed(low)} to ${signed(high)}${unit}`,
      p: formatPValue(figure.holm),
      verdict,
      better: isScore && isShown && verdict !== 'same' ? verdict === 'higher' : null,
      paired: figure,
    }
  })
}

export const RUN_HEAD = ['run', 'policy', 'success', 'return', 'steps', 'tokens', 'cost', 'finished', 'failed', 'left']

/** The cells of a run under {@link RUN_HEAD}. */
export function runCells(run: Contrasts['runs'][number]): string[] {
  const known = (value: number | null) => (value === null ? '' : formatNumber(value))
  return [
    run.name,
    run.policy,
    formatPercent(run.success),
    formatNumber(run.return),
    formatNumber(run.steps),
    known(run.tokens),
    known(run.cost),
    ...[run.finished, run.failed, run.unresolved].map(formatCount),
  ]
}

/** How the figures were computed, and over how many tasks. */
export function methodOfContrasts({ tasks, contrasts, baseline }: Contrasts): string {
  const leftOut = tasks.leftOut === 0 ? '' : `; ${formatCount(tasks.leftOut)} that some run lacks are left out`
  return `Over the ${plural(tasks.compared, 'task')} that every run has${leftOut}, each counted once with the mean of its rollouts. Differences are from ${baseline}, paired by task: 95 % intervals by Student’s t, exact sign tests adjusted by Holm’s procedure over ${plural(contrasts.length, 'contrast')}.`
}
