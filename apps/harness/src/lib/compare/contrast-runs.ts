import type { Comparison, Contrasts, PairedFigure } from '@episodic/report'
import { HarnessError } from '../harness-error.ts'
import { type ComparedRun, compareRuns } from './compare-runs.ts'
import { adjustByHolm } from './holm.ts'
import { pairGrades } from './pair-grades.ts'
import type { PlayedTask } from './played-tasks.ts'

type Figure = 'success' | 'return' | 'steps' | 'tokens' | 'cost'
const FIGURES: readonly Figure[] = ['success', 'return', 'steps', 'tokens', 'cost']

/**
 * Compares runs with the first one, each paired by task as by {@link compareRuns}, over the tasks that have a finished episode
 * in every run. P-values are adjusted by Holm's procedure over the contrasts of a figure.
 *
 * Throws `runs-differ` if two runs cannot be compared, or if no task has a finished episode in every run.
 */
export function contrastRuns(runs: readonly ComparedRun[]): Contrasts {
  const [baseline, ...others] = runs
  if (!baseline) throw new RangeError('There is no run to compare with.')
  const all = new Set(runs.flatMap(({ tasks }) => [...tasks.keys()]))
  const common = [...all].filter((id) => runs.every(({ tasks }) => hasFinished(tasks.get(id))))
  const restricted = (run: ComparedRun): ComparedRun => ({
    ...run,
    tasks: new Map(common.map((id) => [id, run.tasks.get(id) as PlayedTask])),
  })
  // Names the difference if runs cannot be compared at all.
  const whole = others.map((run) => compareRuns(baseline, run))
  if (common.length === 0)
    throw new HarnessError(
      'runs-differ',
      'No task has a finished episode in every run, so there is nothing to compare.',
    )
  const comparisons = others.map((run) => compareRuns(restricted(baseline), restricted(run)))
  const [first] = comparisons as [Comparison]
  const adjusted = Object.fromEntries(
    FIGURES.map((figure) => [figure, adjustByHolm(comparisons.map((one) => figureOf(one, figure)?.p ?? 1))]),
  )
  const grades = pairGrades(runs, common).map(({ figures, ...grade }) => ({
    ...grade,
    figures,
    holm: adjustByHolm(figures.map(({ p }) => p)),
  }))
  const contrasted = (comparison: Comparison, i: number, figure: Figure) => {
    const found = figureOf(comparison, figure)
    return found && { ...found, holm: adjusted[figure]?.[i] as number }
  }
  type Contrasted = NonNullable<ReturnType<typeof contrasted>>
  return {
    format: 1,
    environment: first.environment,
    baseline: first.a.name,
    runs: [
      { ...(whole[0] as Comparison).a, ...meansOf(first, 'a') },
      ...comparisons.map((comparison, i) => ({ ...(whole[i] as Comparison).b, ...meansOf(comparison, 'b') })),
    ],
    tasks: { compared: common.length, leftOut: all.size - common.length },
    successRules: first.successRules,
    contrasts: comparisons.map((comparison, i) => ({
      run: comparison.b.name,
      success: contrasted(comparison, i, 'success') as Contrasted,
      return: contrasted(comparison, i, 'return') as Contrasted,
      steps: contrasted(comparison, i, 'steps') as Contrasted,
      tokens: contrasted(comparison, i, 'tokens'),
      cost: contrasted(comparison, i, 'cost'),
      grades: grades.map(({ name, unit, figures, holm }) => ({
        name,
        unit,
        ...(figures[i] as PairedFigure),
        holm: holm[i] as number,
      })),
    })),
  }
}

function hasFinished(task: PlayedTask | undefined): boolean {
  return [...(task?.plays.values() ?? [])].some(({ outcome }) => outcome !== 'failed')
}

function figureOf(comparison: Comparison, figure: Figure): PairedFigure | null {
  return figure === 'steps' ? comparison.length : comparison[figure]
}

function meansOf(comparison: Comparison, side: 'a' | 'b') {
  const mean = (figure: Figure) => figureOf(comparison, figure)?.[side] ?? null
  return {
    success: mean('success') as number,
    return: mean('return') as number,
    steps: mean('steps') as number,
    tokens: mean('tokens'),
    cost: mean('cost'),
  }
}
