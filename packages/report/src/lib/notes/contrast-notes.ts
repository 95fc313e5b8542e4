import type { PairedFigure } from '../compare/comparison.ts'
import type { Contrasts, Factors } from '../compare/contrasts.ts'
import { SIGNIFICANCE } from '../compare/significance.ts'
import { CURRENCY, formatCost, formatCount, formatNumber, formatPercent, plural } from '../text/format.ts'
import { TESTED } from './comparison-notes.ts'
import { noteFewTasks } from './few-tasks.ts'
import {
  formatDetectable,
  formatDifference,
  formatDifferenceInterval,
  formatPValue,
  namedFigures,
} from './figure-notes.ts'
import { shortVoids } from './void-notes.ts'

export function contrastRows(contrast: Contrasts['contrasts'][number]) {
  return namedFigures(contrast).map(({ name, figure, unit }) => {
    const verdict = verdictOfContrast(figure)
    const isScore = name === 'success' || name === 'return'
    return {
      figure: `${name}${ofKnown(figure.difference.clusters, contrast.tasks)}`,
      difference: formatDifference(figure, unit),
      interval: formatDifferenceInterval(figure, unit),
      p: formatPValue(figure.holm),
      verdict,
      detectable: formatDetectable(figure, unit),
      /** Whether the run is shown to be better or worse by it; `null` for neither, and if nothing is shown. */
      better: isScore && (verdict === 'higher' || verdict === 'lower') ? verdict === 'higher' : null,
      paired: figure,
    }
  })
}

function verdictOfContrast({ effect, holm, difference }: PairedFigure & { readonly holm: number }) {
  if (effect === 'same') return effect
  return holm >= SIGNIFICANCE ? 'not shown' : difference.mean > 0 ? 'higher' : 'lower'
}

export function bySuccess(all: Contrasts): Contrasts {
  const [baseline, ...others] = all.runs
  const order = [...others.keys()].sort((a, b) => (others[b]?.success ?? 0) - (others[a]?.success ?? 0))
  return {
    ...all,
    runs: [...(baseline ? [baseline] : []), ...order.flatMap((i) => others[i] ?? [])],
    contrasts: order.flatMap((i) => all.contrasts[i] ?? []),
  }
}

export function noteContrasts({ contrasts }: Contrasts): string | null {
  return noteFewTasks(Math.max(0, ...contrasts.map(({ tasks }) => tasks)), contrasts.length + 1)
}

export function factorCells({ prompts, rows }: Factors): string[][] {
  return [['model', ...prompts], ...rows.map(({ model, success }) => [model, ...success.map(formatPercent)])]
}

export const EFFECT_HEAD = ['', 'against', 'success', '95 %', 'Holm', 'detectable', 'models', 'tasks', 'shown']

export function effectCells({ effects }: Factors): string[][] {
  return effects.map((effect) => [
    effect.level,
    effect.base,
    formatDifference(effect, 'share'),
    formatDifferenceInterval(effect, 'share'),
    formatPValue(effect.holm),
    formatDetectable(effect, 'share').split(':')[0] as string,
    ...[effect.pairs, effect.difference.clusters].map(formatCount),
    verdictOfContrast(effect),
  ])
}

export const EFFECT_NOTE =
  'The effect of a prompt, of descriptions of tools or of options, over all models that have both: of each task the mean difference, paired by task and model. Interval and sign-flip test are over tasks, adjusted by Holm’s procedure over all effects.'

export const RUN_HEAD = [
  'run',
  'policy',
  'success',
  'return',
  'steps',
  'tokens',
  'cost',
  'tasks',
  'finished',
  'failed',
  'left',
  'not in the rate',
]

export function runCells(run: Contrasts['runs'][number]): string[] {
  return [
    run.name,
    [run.policy, run.prompt ?? ''].join(' ').trim(),
    formatPercent(run.success),
    formatNumber(run.return),
    formatNumber(run.steps),
    `${formatNumber(run.tokens)}${ofKnown(run.known?.tokens, run.tasks)}`,
    `${formatCost(run.cost)}${ofKnown(run.known?.cost, run.tasks)}`,
    ...[run.tasks, run.finished, run.failed, run.unresolved].map(formatCount),
    shortVoids(run).join(', '),
  ]
}

function ofKnown(known: number | undefined, all: number): string {
  return known === undefined || known === 0 || known === all ? '' : ` (${formatCount(known)} of ${formatCount(all)})`
}

export function methodOfContrasts({ runs, tasks, contrasts, baseline }: Contrasts): string {
  const counts = contrasts.map((contrast) => contrast.tasks)
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)]
  const range = fewest === most ? plural(most, 'task') : `${formatCount(fewest)} to ${plural(most, 'task')}`
  const leftOut = tasks.leftOut === 0 ? '' : ` ${plural(tasks.leftOut, 'task')} that no two of them share are left out.`
  const isExact = contrasts.every(({ success }) => success.exact)
  const currency = runs.some(({ cost }) => cost !== null) ? ` ${CURRENCY}` : ''
  return `Figures of a run are means over its own tasks, where its own page has the success rate over episodes. Differences are from ${baseline}, paired by the tasks that both have (${range}), each counted once with the mean of its rollouts: ${TESTED} ${isExact ? 'exact ' : ''}sign-flip test of the means, adjusted by Holm’s procedure over ${plural(contrasts.length, 'contrast')}. Detectable is the smallest difference that such tasks show with 80 % power after the adjustment, if no other contrast shows one.${leftOut}${currency}`
}
