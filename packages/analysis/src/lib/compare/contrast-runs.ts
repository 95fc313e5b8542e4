import type { Comparison, PairedFigure } from '@episodic/report/compare/comparison'
import type { Contrasts } from '@episodic/report/compare/contrasts'
import { createRate } from '@episodic/report/fold/clustered-rate'
import { mapValues } from '@episodic/run/base/map-values'
import { promptsOfRuns } from '@episodic/run/folder/plan/prompt-names'
import { type Means, meansOf } from './compare-runs.ts'
import type { ComparedWithBaseline } from './compare-with-baseline.ts'
import type { ComparedRun } from './compared-run.ts'
import { factorsOf } from './factor-effects.ts'
import { adjustFigures } from './holm.ts'
import { meanOf } from './paired-figure.ts'

/**
 * Puts the comparisons of several runs with one baseline together. Each is over the tasks that its run and the baseline
 * both have, so a run that has few takes none from the others. The p-values of a figure are adjusted by Holm's
 * procedure over the comparisons that have it.
 */
export function contrastRuns({ baseline, others, comparisons, leftOut }: ComparedWithBaseline): Contrasts {
  const [first] = comparisons as readonly [Comparison, ...Comparison[]]
  const contrasted = <Figure extends PairedFigure>(of: (comparison: Comparison) => Figure | null | undefined) => {
    const figures = comparisons.map(of)
    const found = adjustFigures(figures.filter((figure) => figure !== null && figure !== undefined))
    return figures.map((figure) => (figure ? (found.shift() ?? null) : null))
  }
  const figures = {
    success: contrasted((comparison) => comparison.success),
    return: contrasted((comparison) => comparison.return),
    steps: contrasted(({ length }) => length),
    tokens: contrasted((comparison) => comparison.tokens),
    cost: contrasted((comparison) => comparison.cost),
  }
  const any = contrasted(({ passes }) => passes?.any)
  const all = contrasted(({ passes }) => passes?.all)
  const graders = new Set(comparisons.flatMap(({ grades }) => grades.map(({ name }) => name)))
  const grades = [...graders].map((name) => contrasted(({ grades }) => grades.find((grade) => grade.name === name)))
  const finished = [baseline, ...others].map(finishedTasks)
  const prompts = promptsOfRuns([baseline, ...others].map(({ manifest }) => manifest.configuration))
  const [known = new Map(), ...each] = finished
  const compared = new Set(each.flatMap((tasks) => [...tasks.keys()].filter((id) => known.has(id))))
  const played = new Set([baseline, ...others].flatMap(({ tasks }) => [...tasks.keys()]))
  return {
    format: 1,
    environment: first.environment,
    baseline: first.a.name,
    runs: [first.a, ...comparisons.map(({ b }) => b)].map((side, i) => ({
      ...side,
      ...(prompts[i] !== undefined && { prompt: prompts[i] }),
      ...averageOf([...(finished[i]?.values() ?? [])]),
      rate: rateOf([baseline, ...others][i] as ComparedRun),
    })),
    leftOut: leftOut.map(({ name, why }) => ({ run: name, why })),
    tasks: { compared: compared.size, leftOut: played.size - compared.size },
    successRules: (['default', 'world'] as const).filter((rule) =>
      comparisons.some(({ successRules }) => successRules.includes(rule)),
    ),
    factors: factorsOf([baseline, ...others]),
    contrasts: comparisons.map(({ b, tasks, passes }, i) => ({
      run: b.name,
      tasks: tasks.compared,
      // A comparison has a finished episode in both runs, so it has the first three.
      ...(mapValues(figures, (all) => all[i]) as Pick<Contrasts['contrasts'][number], keyof typeof figures>),
      passes: passes && any[i] && all[i] ? { k: passes.k, any: any[i], all: all[i] } : null,
      grades: grades.flatMap((figures) => figures[i] ?? []),
    })),
  }
}

function finishedTasks({ tasks }: ComparedRun): ReadonlyMap<string, Means> {
  return new Map(
    [...tasks]
      .flatMap(([id, task]) => {
        const means = meansOf(task)
        return means ? [[id, means] as const] : []
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** Success over the finished episodes, with the interval that the page of the run has. */
function rateOf({ tasks }: ComparedRun): ReturnType<ReturnType<typeof createRate>['finish']> {
  const rate = createRate()
  for (const [task, { plays }] of [...tasks.values()].entries())
    for (const { outcome } of plays.values()) if (outcome !== 'failed') rate.add(task, outcome === 'succeeded')
  return rate.finish()
}

function averageOf(tasks: readonly Means[]) {
  const mean = (figure: 'success' | 'unshaped' | 'steps' | 'tokens' | 'cost') => {
    const values = tasks.flatMap((task) => task[figure] ?? [])
    return values.length === 0 ? null : meanOf(values)
  }
  return {
    tasks: tasks.length,
    success: mean('success') as number,
    return: mean('unshaped') as number,
    steps: mean('steps') as number,
    tokens: mean('tokens'),
    cost: mean('cost'),
    known: {
      tokens: tasks.filter(({ tokens }) => tokens !== null).length,
      cost: tasks.filter(({ cost }) => cost !== null).length,
    },
  }
}
