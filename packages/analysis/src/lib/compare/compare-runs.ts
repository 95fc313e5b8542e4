import type { Comparison, Flip } from '@episodic/report/compare/comparison'
import { passAtK, passHatK } from '@episodic/report/fold/statistics'
import { DIFFICULTY_BINS, difficultyBinOf } from '@episodic/report/fold/task-groups'
import { type VoidBounds, voidBounds } from '@episodic/report/fold/void-bounds'
import { plural } from '@episodic/report/text/format'
import { HarnessError } from '@episodic/run/base/harness-error'
import { differencesOf } from '@episodic/run/folder/plan/configuration'
import { alignTasks } from './align-tasks.ts'
import { unearnedOfRun } from './cheating/unearned-of-run.ts'
import type { ComparedRun } from './compared-run.ts'
import { pairGrades } from './pair-grades.ts'
import { meanOf, pairFigure, SHARES } from './paired-figure.ts'
import { countPlays, differingKeys, type Play, type PlayedTask, type PlayedTasks } from './played-tasks.ts'

interface ComparedTask {
  readonly id: string
  readonly difficulty: number
  readonly a: Means
  readonly b: Means
}
export type Means = Readonly<Record<'finished' | 'successes' | 'success' | 'unshaped' | 'steps', number>> &
  Readonly<Record<'tokens' | 'cost', number | null>>

const MOST_NAMED = 5
const MOST_FLIPS = 100
/** Characters of why a run stopped. */
const MOST_OF_MESSAGE = 200
const MOST_TASKS = 500

/**
 * Compares two runs on the tasks that they share, paired by task: the same environment and seed, two policies.
 *
 * Rollouts of a task are averaged first, because they are not independent of each other. So runs with different numbers
 * of rollouts can be compared too. Episodes with the same task and attempt are paired to find those that flipped.
 *
 * Tasks whose prompts differ are paired by their parameters and seed, and counted as `promptsDiffer`.
 *
 * Throws `runs-differ`, naming the difference, if the environment, its version or the reward weights differ, if there
 * is no common task, or if the parameters or the seed of a shared task differ.
 */
export function compareRuns(a: ComparedRun, other: ComparedRun): Comparison {
  const b = alignTasks(a, other)
  const configuration = differencesOf(a.manifest.configuration, b.manifest.configuration).map(([key, was, is]) => ({
    key,
    a: was,
    b: is,
  }))
  const isNamed = a.manifest.name !== b.manifest.name
  const [nameA, nameB]: readonly [string, string] = isNamed ? [a.manifest.name, b.manifest.name] : ['A', 'B']
  const barring = configuration.filter(({ key }) => /^(environment|weights)\./.test(key))
  if (barring.length > 0)
    throw new HarnessError('runs-differ', [
      'The runs cannot be compared:',
      ...barring.map((row) => `  ${row.key}: ${row.a} in ${nameA}, ${row.b} in ${nameB}`),
      'Compare runs of the same environment version with the same weights.',
    ])
  for (const run of [a, b])
    if (run.tasks.size === 0)
      throw new HarnessError('runs-differ', `${run.manifest.name} cannot be compared. ${whyNothing(run)}`)
  const ids = [...a.tasks.keys()].filter((id) => b.tasks.has(id)).sort()
  if (ids.length === 0)
    throw new HarnessError(
      'runs-differ',
      `The runs share no task: ${nameA} has sealed episodes of ${plural(a.tasks.size, 'task')}, and ${nameB} of ${b.tasks.size} others. Run both with the same --dataset, or with the same --tasks, --difficulty, --split and --seed.`,
    )
  for (const id of ids) assertSameSetup(id, [nameA, a.tasks.get(id)], [nameB, b.tasks.get(id)])
  const compared = ids.flatMap((id): ComparedTask[] => {
    const [taskA, taskB] = [a, b].map(({ tasks }) => tasks.get(id))
    const [inA, inB] = [meansOf(taskA), meansOf(taskB)]
    return taskA && inA && inB ? [{ id, difficulty: taskA.difficulty, a: inA, b: inB }] : []
  })
  const pair = (figure: keyof Means, bounds?: typeof SHARES) =>
    pairFigure(
      compared.flatMap(({ a, b }) =>
        a[figure] === null || b[figure] === null ? [] : [[a[figure], b[figure]] as const],
      ),
      bounds,
    )
  const { name, version } = a.manifest.configuration.environment
  return {
    format: 1,
    environment: `${name}@${version}`,
    a: { ...sideOf(a), ...unearnedOfRun(a, [a, b]) },
    b: { ...sideOf(b), ...unearnedOfRun(b, [a, b]) },
    configuration,
    tasks: {
      shared: ids.length,
      compared: compared.length,
      onlyA: missingIn(a.tasks, b.tasks),
      onlyB: missingIn(b.tasks, a.tasks),
      promptsDiffer: b.ownIds?.size ?? 0,
    },
    success: pair('success', SHARES),
    successRules: rulesIn(ids.flatMap((id) => [a.tasks.get(id), b.tasks.get(id)])),
    seeded: [a, b].every(({ manifest }) => (manifest.played?.guarantees?.seed ?? 'decides') === 'decides'),
    passes: [a, b].some(({ manifest }) => manifest.configuration.branch.length > 0) ? null : pairPasses(compared),
    return: pair('unshaped'),
    length: pair('steps'),
    tokens: pair('tokens'),
    cost: pair('cost'),
    grades: pairGrades([a, b], ids).flatMap(({ name, unit, figures: [figure] }) =>
      figure ? [{ name, unit, ...figure }] : [],
    ),
    episodes: flipsOf(ids, a.tasks, b),
    byDifficulty: binByDifficulty(compared),
    byTask: spread(
      compared
        .map((task) => ({ task: task.id, difference: task.b.unshaped - task.a.unshaped }))
        .sort((one, other) => one.difference - other.difference),
    ),
  }
}

export function whyNothing({ tasks, stopped }: ComparedRun): string | null {
  const { finished, failed } = countPlays(tasks.values())
  if (finished > 0) return null
  const what = failed === 0 ? 'It has no sealed episode.' : `All of its ${plural(failed, 'episode')} failed.`
  if (!stopped) return what
  const [line = ''] = stopped.message.split('\n')
  return `${what} It stopped (${stopped.code}): ${line.slice(0, MOST_OF_MESSAGE)}`
}

function pairPasses(tasks: readonly ComparedTask[]): Comparison['passes'] {
  const k = Math.max(0, ...tasks.map(({ a, b }) => Math.min(a.finished, b.finished)))
  if (k < 2) return null
  const tried = tasks.filter(({ a, b }) => a.finished >= k && b.finished >= k)
  const pair = (estimate: (means: Means) => number) =>
    pairFigure(
      tried.map(({ a, b }) => [estimate(a), estimate(b)] as const),
      SHARES,
    )
  const any = pair(({ finished, successes }) => passAtK(finished, successes, k))
  const all = pair(({ finished, successes }) => passHatK(finished, successes, k))
  return any && all && { k, any, all }
}

type NamedTask = readonly [run: string, task: PlayedTask | undefined]

function assertSameSetup(id: string, [nameA, a]: NamedTask, [nameB, b]: NamedTask): void {
  if (!a?.setup || !b?.setup) return
  const { setup } = a
  const other = b.setup
  const keys = differingKeys(setup, other)
  if (keys.length > 0)
    throw new HarnessError('runs-differ', [
      `Task ${id} is not the same in both runs:`,
      ...keys.map((key) => `  ${key}: ${setup[key]} in ${nameA}, ${other[key]} in ${nameB}`),
      'Compare runs of the same dataset.',
    ])
}

export function meansOf(task: PlayedTask | undefined): Means | null {
  const plays = [...(task?.plays.values() ?? [])].filter(({ outcome }) => outcome !== 'failed')
  if (plays.length === 0) return null
  const mean = (value: (play: Play) => number) => meanOf(plays.map(value))
  const successes = plays.filter(({ outcome }) => outcome === 'succeeded').length
  return {
    finished: plays.length,
    successes,
    success: successes / plays.length,
    unshaped: mean((play) => play.unshaped),
    steps: mean((play) => play.steps),
    tokens: plays.some(({ tokens }) => tokens === null) ? null : mean(({ tokens }) => tokens ?? 0),
    cost: plays.some(({ cost }) => cost === null) ? null : mean(({ cost }) => cost ?? 0),
  }
}

function rulesIn(tasks: readonly (PlayedTask | undefined)[]): Comparison['successRules'] {
  const rules = new Set(tasks.flatMap((task) => [...(task?.plays.values() ?? [])].map(({ rule }) => rule)))
  return (['default', 'world'] as const).filter((rule) => rules.has(rule))
}

function sideOf({ manifest, tasks }: ComparedRun): Comparison['a'] {
  const { finished, failed, retried } = countPlays(tasks.values())
  const { name, scheduled, configuration } = manifest
  const unresolved = Math.max(0, scheduled - finished - failed)
  return {
    ...{ name, policy: configuration.policy.name, scheduled, finished, failed, unresolved },
    bounds: failed === 0 ? null : boundsOver([...tasks.values()]),
    retried,
  }
}

function boundsOver(tasks: readonly PlayedTask[]): VoidBounds {
  const each = tasks
    .filter(({ plays }) => plays.size > 0)
    .map((task) => {
      const counts = countPlays([task])
      const rate = counts.successes / counts.finished
      return voidBounds(counts) ?? { low: rate, high: rate }
    })
  return { low: meanOf(each.map(({ low }) => low)), high: meanOf(each.map(({ high }) => high)) }
}

function missingIn(tasks: PlayedTasks, others: PlayedTasks): Comparison['tasks']['onlyA'] {
  const alone = [...tasks.keys()].filter((id) => !others.has(id)).sort()
  return { count: alone.length, named: alone.slice(0, MOST_NAMED) }
}

function flipsOf(ids: readonly string[], a: PlayedTasks, { tasks: b, ownIds }: ComparedRun): Comparison['episodes'] {
  let paired = 0
  const gained: Flip[] = []
  const lost: Flip[] = []
  for (const task of ids) {
    const others = b.get(task)?.plays
    for (const [attempt, play] of [...(a.get(task)?.plays ?? [])].sort(([one], [other]) => one - other)) {
      const other = others?.get(attempt)
      if (!other || play.outcome === 'failed' || other.outcome === 'failed') continue
      paired += 1
      const [solvedInA, solvedInB] = [play.outcome === 'succeeded', other.outcome === 'succeeded']
      const taskInB = ownIds?.get(task)
      if (solvedInA !== solvedInB)
        (solvedInB ? gained : lost).push({
          task,
          ...(taskInB !== undefined && { taskInB }),
          attempt,
          a: endOf(play),
          b: endOf(other),
        })
    }
  }
  const first = (flips: Flip[]) => ({ count: flips.length, flips: flips.slice(0, MOST_FLIPS) })
  return { paired, gained: first(gained), lost: first(lost) }
}

function endOf({ ending, steps, unshaped }: Play): Flip['a'] {
  return { ending, steps, unshaped }
}

function binByDifficulty(tasks: readonly ComparedTask[]): Comparison['byDifficulty'] {
  return Array.from({ length: DIFFICULTY_BINS }, (_, bin) => bin).flatMap((bin) => {
    const figure = pairFigure(
      tasks
        .filter(({ difficulty }) => difficultyBinOf(difficulty) === bin)
        .map(({ a, b }) => [a.success, b.success] as const),
      SHARES,
    )
    return figure ? [{ from: bin / DIFFICULTY_BINS, to: (bin + 1) / DIFFICULTY_BINS, ...figure.difference }] : []
  })
}

function spread<Item>(items: readonly Item[]): Item[] {
  if (items.length <= MOST_TASKS) return [...items]
  const distance = (items.length - 1) / (MOST_TASKS - 1)
  return Array.from({ length: MOST_TASKS }, (_, i) => items[Math.round(i * distance)] as Item)
}
