import type { Comparison, PairedFigure } from '../compare/comparison.ts'
import { SIGNIFICANCE } from '../compare/significance.ts'
import { formatRules } from '../fold/scored-outcome.ts'
import { CURRENCY, formatCount, NOTHING, plural } from '../text/format.ts'
import {
  formatDetectable,
  formatDifference,
  formatDifferenceInterval,
  formatFigureValue,
  formatPValue,
  namedFigures,
} from './figure-notes.ts'

export interface FigureRow {
  readonly name: string
  readonly a: string
  readonly b: string
  readonly difference: string
  readonly interval: string
  readonly effect: PairedFigure['effect']
  readonly shown: string
  readonly tasks: string
  readonly tests: string
  readonly detectable: string
}

/** Differences of shares are in percentage points. */
export function figureRows(comparison: Comparison): FigureRow[] {
  return namedFigures({ ...comparison, steps: comparison.length }).map(({ name, figure, unit }) => {
    const { low, clusters } = figure.difference
    return {
      name,
      a: formatFigureValue(figure.a, unit),
      b: formatFigureValue(figure.b, unit),
      difference: formatDifference(figure, unit),
      interval:
        low === null
          ? clusters < 2
            ? 'one task: no interval'
            : 'same in every task'
          : formatDifferenceInterval(figure, unit),
      effect: figure.effect,
      shown: formatEffect(figure),
      tasks: `${formatCount(figure.higher)} higher, ${formatCount(figure.lower)} lower, ${formatCount(figure.equal)} equal${clusters < comparison.tasks.compared ? ` of ${plural(comparison.tasks.compared, 'task')}` : ''}`,
      tests: `sign-flip test ${formatPValue(figure.p)}, sign test ${formatPValue(figure.signP)}`,
      detectable: formatDetectable(figure, unit),
    }
  })
}

/**
 * Says whether B is shown to be higher or lower. That is decided by the sign-flip test of the mean difference; if only
 * the sign test finds something, B is higher or lower in more tasks than chance explains, and not shown to be so on
 * average.
 */
function formatEffect({ effect, signP, higher, lower }: PairedFigure): string {
  if (effect !== 'unclear') return effect
  if (signP >= SIGNIFICANCE) return 'not shown'
  return `${higher > lower ? 'higher' : 'lower'} in more tasks; the mean is not shown to be`
}

export function verdictOf({ success, return: returned, tasks }: Comparison): string {
  if (!success || !returned) return 'No task has a finished episode in both runs, so there is nothing to compare.'
  if (tasks.compared === 1) return 'One task is not enough to show that either run is better.'
  const solves = {
    higher: 'B solves more',
    lower: 'B solves less',
    same: 'B solves as much in every task',
    unclear: 'Neither run is shown to solve more',
  }[success.effect]
  const earns = {
    higher: 'earns more',
    lower: 'earns less',
    same: 'earns the same',
    unclear: 'neither is shown to earn more',
  }[returned.effect]
  if (success.effect === 'unclear' && returned.effect === 'unclear')
    return 'Neither run is shown to solve more or to earn more.'
  if (returned.effect === 'unclear') return `${solves}; ${earns}.`
  const isOpposed =
    success.effect === 'unclear' ||
    (success.effect !== returned.effect && success.effect !== 'same' && returned.effect !== 'same')
  const subject = success.effect === 'unclear' ? 'B' : 'it'
  return `${solves}, ${isOpposed ? 'but' : 'and'} ${subject} ${earns}.`
}

export const UNSEEDED = 'The server may not use the seed, so the chance of a task may differ between the runs.'

export const INTERVAL_NOTE =
  'The interval does not decide: for few tasks it relies on a normal distribution, which the test does not.'
export const DETECTABLE_NOTE =
  'The smallest detectable difference is the one that such tasks show in four of five samples at 5 % (Bloom 1995). There is none if so few tasks differ that p cannot fall below 0.05.'
export const TESTED = '95 % intervals by Student’s t. A difference is shown if p < 0.05 in the'

export function methodOf({ tasks, success, cost, successRules, seeded }: Comparison): string {
  const sentences = [
    `Success: ${formatRules(successRules)}. Paired over ${plural(tasks.compared, 'task')}, each counted once with the mean of its rollouts (the page of a run has the rate over episodes): ${TESTED} ${testOf(success)}; the exact sign test (McNemar’s with one rollout per task) counts tasks.`,
    success && formatPower(success),
    !seeded && UNSEEDED,
    cost && CURRENCY,
  ]
  return sentences.filter(Boolean).join(' ')
}

/** Says which sign-flip test has decided: random signs are drawn where all are too many to count. */
function testOf(figure: Pick<PairedFigure, 'exact'> | null): string {
  return figure?.exact === false ? 'sign-flip test of the means (19,999 draws)' : 'exact sign-flip test of the means'
}

function formatPower(success: PairedFigure): string {
  const detectable = formatDetectable(success, 'share')
  if (detectable === NOTHING) return ''
  if (detectable.startsWith('none'))
    return `No difference in success can be shown (${detectable.slice('none: '.length)}).`
  return `The smallest difference in success that such tasks show with 80 % power is ${detectable}.`
}

export function otherDifferences({ configuration }: Comparison): Comparison['configuration'] {
  return configuration.filter(({ key }) => !key.startsWith('policy.'))
}

export function notePrompts({ promptsDiffer }: Comparison['tasks']): string | null {
  if (promptsDiffer === 0) return null
  return `${plural(promptsDiffer, 'task')} paired by parameters and seed: the prompts differ`
}

export function aloneIn(side: 'A' | 'B', { count, named }: Comparison['tasks']['onlyA']): string | null {
  if (count === 0) return null
  const more = count > named.length ? ` and ${formatCount(count - named.length)} more` : ''
  return `${plural(count, 'task')} only in ${side}: ${named.join(', ')}${more}`
}
