import { createRate } from '@episodic/report/fold/clustered-rate'
import { clusteredMean } from '@episodic/report/fold/statistics'
import { gradeLabel, VERDICT } from '@episodic/report/notes/figure-notes'
import { formatCount, plural } from '@episodic/report/text/format'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { ComparedRun } from '../compare/compared-run.ts'
import { gradesOf } from '../compare/pair-grades.ts'
import { countPlays, type Play } from '../compare/played-tasks.ts'
import type { Condition, GradeCondition } from './condition.ts'
import { type Decision, decide, type GateUnit } from './decision.ts'

export type Conditions = Readonly<Partial<Record<FigureName, Condition>>>
export type FigureName = 'failed' | keyof typeof FIGURES

/** Shares of the finished episodes, with the intervals of the report, and means over them. `null` is not known. */
const FIGURES = {
  success: { unit: 'share', read: ({ outcome }) => outcome === 'succeeded' },
  truncated: { unit: 'share', read: ({ outcome }) => outcome === 'truncated' },
  return: { unit: 'number', read: ({ unshaped }) => unshaped },
  steps: { unit: 'number', read: ({ steps }) => steps },
  tokens: { unit: 'number', read: ({ tokens }) => tokens },
  cost: { unit: 'cost', read: ({ cost }) => cost },
} satisfies Record<string, { readonly unit: GateUnit; readonly read: (play: Play) => boolean | number | null }>

export interface GateCounts {
  readonly scheduled: number
  readonly finished: number
  readonly failed: number
  readonly left: number
}

export function countEpisodes({ manifest, tasks }: ComparedRun): GateCounts {
  const { finished, failed } = countPlays(tasks.values())
  const left = Math.max(0, manifest.scheduled - finished - failed)
  return { scheduled: finished + failed + left, finished, failed, left }
}

/**
 * Decides the conditions on the figures of a run: on failed episodes first, then in the order of {@link FIGURES}.
 *
 * Throws `run-invalid` if a condition is on tokens or a cost that the run does not have.
 */
export function decideFigures(run: ComparedRun, conditions: Conditions): Decision[] {
  const failed = conditions.failed ? [decideFailed(countEpisodes(run), conditions.failed)] : []
  const others = (Object.keys(FIGURES) as (keyof typeof FIGURES)[]).flatMap((name) => {
    const condition = conditions[name]
    return condition ? decideFigure(run, name, condition) : []
  })
  return [...failed, ...others]
}

/**
 * Decides how many episodes may have no result. They are counted: it is no estimate of other episodes, but says how
 * far the other figures are of the run that was asked for.
 */
function decideFailed({ scheduled, failed, left }: GateCounts, { way, limit }: Condition): Decision {
  const share = scheduled === 0 ? 1 : (failed + left) / scheduled
  const isMet = way === '>=' ? share >= limit : share <= limit
  const what = [
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(left > 0 ? [`${formatCount(left)} ${left === 1 ? 'was' : 'were'} not played`] : []),
  ]
  return {
    ...{ name: 'failed', unit: 'share', way, limit, value: share, low: null, high: null, tasks: 0 },
    verdict: isMet ? 'met' : 'missed',
    detectable: null,
    tasksNeeded: null,
    notes: what.length > 0 ? [`Of ${plural(scheduled, 'episode')}, ${what.join(' and ')}.`] : [],
  }
}

/**
 * Decides a condition on what a grader or a further verdict of the world says: the share of what it calls true, or of a
 * label, or the mean of its scores, over the episodes that it has graded.
 *
 * Throws `run-invalid` if the run has no grades of it, or grades that the condition is not for.
 */
export function decideGrade(run: ComparedRun, condition: GradeCondition): Decision {
  const { grader, limit, isPercent } = condition
  const problem = (message: string) => new HarnessError('run-invalid', `${run.manifest.name} ${message}`)
  const graders = gradesOf(run)
  const found =
    graders.find((one) => one.name === grader || grader.startsWith(`${one.name}: `)) ??
    graders.find((one) => one.name === VERDICT + grader)
  if (!found) {
    const known = graders.length === 0 ? 'no grades' : `grades of ${graders.map((one) => one.name).join(', ')} alone`
    throw problem(`has ${known}, so --grade '${grader}' cannot be decided. Grade it: episodic grade.`)
  }
  const name = gradeLabel(found.name.startsWith(VERDICT) ? found.name : grader)
  const label = grader.slice(found.name.length + 2)
  const values = [...found.tasks.values()]
  const isScore = values.flat().every((value) => typeof value === 'number')
  const isOfLabels = values.flat().some((value) => typeof value === 'string')
  const labels = [...new Set([...found.labels, ...values.flat().map(String)])]
  if (isOfLabels && !labels.includes(label))
    throw problem(
      `has labels of ${found.name}: write one of them, as '${found.name}: ${labels[0]}'. There is: ${labels.join(', ')}.`,
    )
  if (!isOfLabels && label !== '') throw problem(`has no labels of ${found.name}: leave ": ${label}" out.`)
  if (isScore ? isPercent : limit < 0 || limit > 1)
    throw problem(
      `has ${isScore ? 'scores' : 'a share'} of ${grader}: write ${isScore ? 'a number' : 'a share from 0 to 1, or in per cent'}.`,
    )
  const notes = noteKnown(found.tasks.size, run.tasks.size)
  if (isScore) return decideMean(values as readonly (readonly number[])[], condition, { name, unit: 'number', notes })
  const judged = values.map((said) => said.map((value) => (isOfLabels ? value === label : value === true)))
  return decideShare(judged, condition, { name, unit: 'share', notes })
}

function noteKnown(known: number, all: number): string[] {
  return known < all ? [`It is known of ${formatCount(known)} of ${plural(all, 'task')}.`] : []
}

type Named = Pick<Parameters<typeof decide>[1], 'name' | 'unit' | 'notes'>

function decideShare(tasks: readonly (readonly boolean[])[], condition: Condition, named: Named): Decision {
  const rate = createRate()
  for (const [task, values] of tasks.entries()) for (const value of values) rate.add(task, value)
  const { rate: value, low, high } = rate.finish()
  return decide(condition, { ...named, value, low, high, tasks: tasks.length })
}

function decideMean(tasks: readonly (readonly number[])[], condition: Condition, named: Named): Decision {
  const estimate = clusteredMean(
    tasks.flat(),
    tasks.flatMap((values, task) => values.map(() => task)),
  )
  return decide(condition, {
    ...named,
    ...{ value: estimate?.mean ?? null, low: estimate?.low ?? null, high: estimate?.high ?? null },
    tasks: tasks.length,
    isConstant: estimate?.standardError === 0,
  })
}

function decideFigure({ manifest, tasks }: ComparedRun, name: keyof typeof FIGURES, condition: Condition): Decision {
  const { unit, read }: { readonly unit: GateUnit; read(play: Play): boolean | number | null } = FIGURES[name]
  const finished = [...tasks.values()].flatMap(({ plays }) => {
    const values = [...plays.values()].filter(({ outcome }) => outcome !== 'failed').map(read)
    return values.length > 0 ? [values] : []
  })
  if (unit === 'share') return decideShare(finished as readonly (readonly boolean[])[], condition, { name, unit })
  const known = finished.filter((values) => !values.includes(null))
  if (finished.length > 0 && known.length === 0)
    throw new HarnessError(
      'run-invalid',
      `${manifest.name} has no ${name}, so --${name} cannot be decided. ${name === 'cost' ? 'Play it with prices, by a language model whose server counts tokens.' : 'Tokens are those of language models whose server counts them.'}`,
    )
  const notes = noteKnown(known.length, finished.length)
  return decideMean(known as readonly (readonly number[])[], condition, { name, unit, notes })
}
