import { clusteredMean, createRate, formatCount, plural } from '@episodic/report'
import { HarnessError } from '../../base/harness-error.ts'
import type { ComparedRun } from '../compare/compared-run.ts'
import type { Play } from '../compare/played-tasks.ts'
import type { Condition, GradeCondition } from './condition.ts'
import { type Decision, decide, type GateUnit } from './decision.ts'

/** Conditions on the figures of one run, by the name of the figure. */
export type Conditions = Readonly<Partial<Record<FigureName, Condition>>>
export type FigureName = 'failed' | keyof typeof SHARES | keyof typeof MEANS

/** Shares of the finished episodes, with the intervals of the report. */
const SHARES = {
  success: ({ outcome }) => outcome === 'succeeded',
  truncated: ({ outcome }) => outcome === 'truncated',
} satisfies Record<string, (play: Play) => boolean>

/** Means over the finished episodes. `null` is not known. */
const MEANS = {
  return: { unit: 'number', read: ({ unshaped }) => unshaped },
  steps: { unit: 'number', read: ({ steps }) => steps },
  tokens: { unit: 'number', read: ({ tokens }) => tokens },
  cost: { unit: 'cost', read: ({ cost }) => cost },
} satisfies Record<string, { readonly unit: GateUnit; readonly read: (play: Play) => number | null }>

/** Episodes of a run by what became of them. */
export interface GateCounts {
  readonly scheduled: number
  readonly finished: number
  readonly failed: number
  /** Scheduled but not sealed. */
  readonly left: number
}

export function countEpisodes({ manifest, tasks }: ComparedRun): GateCounts {
  const plays = [...tasks.values()].flatMap((task) => [...task.plays.values()])
  const failed = plays.filter(({ outcome }) => outcome === 'failed').length
  const left = Math.max(0, manifest.scheduled - plays.length)
  return { scheduled: plays.length + left, finished: plays.length - failed, failed, left }
}

/**
 * Decides the conditions on the figures of a run, in the order of {@link FIGURES}.
 *
 * Throws `run-invalid` if a condition is on tokens or a cost that the run does not have.
 */
export function decideFigures(run: ComparedRun, conditions: Conditions): Decision[] {
  return FIGURES.flatMap((name) => {
    const condition = conditions[name]
    return condition ? decideFigure(run, name, condition) : []
  })
}

const FIGURES: readonly FigureName[] = ['failed', 'success', 'truncated', 'return', 'steps', 'tokens', 'cost']

function decideFigure(run: ComparedRun, name: FigureName, condition: Condition): Decision {
  if (name === 'failed') return decideFailed(countEpisodes(run), condition)
  const tasks = [...run.tasks.values()].flatMap(({ plays }) => {
    const finished = [...plays.values()].filter(({ outcome }) => outcome !== 'failed')
    return finished.length > 0 ? [finished] : []
  })
  return name === 'success' || name === 'truncated'
    ? decideShare(tasks, name, condition)
    : decideMean(tasks, name, condition, run.manifest.name)
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
 * Decides a condition on what a grader says: the share of what it calls true, or of a label, or the mean of its scores,
 * over the episodes that it has graded.
 *
 * Throws `run-invalid` if the run has no grades of it, or grades that the condition is not for.
 */
export function decideGrade(run: ComparedRun, condition: GradeCondition): Decision {
  const { grader, limit, isPercent } = condition
  const name = `grade ${grader}`
  const problem = (message: string) => new HarnessError('run-invalid', `${run.manifest.name} ${message}`)
  const graders = run.grades ?? []
  const found = graders.find((one) => one.name === grader || grader.startsWith(`${one.name}: `))
  if (!found) {
    const known = graders.length === 0 ? 'no grades' : `grades of ${graders.map((one) => one.name).join(', ')} alone`
    throw problem(`has ${known}, so --grade '${grader}' cannot be decided. Grade it: episodic grade.`)
  }
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
  const notes =
    found.tasks.size < run.tasks.size
      ? [`It is known of ${formatCount(found.tasks.size)} of ${plural(run.tasks.size, 'task')}.`]
      : []
  if (isScore)
    return decideEstimate(values as readonly (readonly number[])[], condition, { name, unit: 'number', notes })
  const rate = createRate()
  for (const [task, said] of values.entries())
    for (const value of said) rate.add(task, isOfLabels ? value === label : value === true)
  const { rate: value, low, high } = rate.finish()
  return decide(condition, { name, unit: 'share', value, low, high, tasks: values.length, notes })
}

/** Decides a condition on a mean over episodes, by the values of each task. */
function decideEstimate(
  tasks: readonly (readonly number[])[],
  condition: Condition,
  named: { readonly name: string; readonly unit: GateUnit; readonly notes: readonly string[] },
): Decision {
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

/** The finished episodes of each task that has some. */
type FinishedTasks = readonly (readonly Play[])[]

function decideShare(tasks: FinishedTasks, name: keyof typeof SHARES, condition: Condition): Decision {
  const rate = createRate()
  for (const [task, plays] of tasks.entries()) for (const play of plays) rate.add(task, SHARES[name](play))
  const { rate: value, low, high } = rate.finish()
  return decide(condition, { name, unit: 'share', value, low, high, tasks: tasks.length })
}

function decideMean(tasks: FinishedTasks, name: keyof typeof MEANS, condition: Condition, run: string): Decision {
  const { unit, read } = MEANS[name]
  const known = tasks.flatMap((plays) => {
    const values = plays.map(read)
    return values.every((value) => value !== null) ? [values] : []
  })
  if (tasks.length > 0 && known.length === 0)
    throw new HarnessError(
      'run-invalid',
      `${run} has no ${name}, so --${name} cannot be decided. ${name === 'cost' ? 'Play it with --prices, by a language model whose server counts tokens.' : 'Tokens are those of language models whose server counts them.'}`,
    )
  return decideEstimate(known, condition, {
    ...{ name, unit },
    notes:
      known.length < tasks.length
        ? [`It is known of ${formatCount(known.length)} of ${plural(tasks.length, 'task')}.`]
        : [],
  })
}
